"""Every prompt of the package."""

from __future__ import annotations

import importlib
import pkgutil

import core.rag
from core.rag.llm.prompts import Prompt


def every_prompt() -> list[type[Prompt]]:
    """The prompts of all modules named ``prompts`` or ``inputs``, by name."""
    for module in pkgutil.walk_packages(core.rag.__path__, "core.rag."):
        if module.name.rsplit(".", 1)[-1] in {"inputs", "prompts"}:
            importlib.import_module(module.name)
    kinds = [kind for kind in _below(Prompt) if kind.__module__.startswith("core.rag.")]
    return sorted(kinds, key=lambda kind: kind.label())


def _below(kind: type[Prompt]) -> list[type[Prompt]]:
    return [below for direct in kind.__subclasses__() for below in [direct, *_below(direct)]]
