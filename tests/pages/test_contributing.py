"""CONTRIBUTING.md names what is there: files, packages, targets of make, and names in the code."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CODE = re.findall(r"`([^`\n]+)`", TEXT)

#: Where a path that is written short begins.
SHORT = [ROOT, ROOT / "src/libs/dataloader", *(ROOT / "src/core/rag" / part for part in ("", "answering", "retrieval"))]
SHORT += [ROOT / "src/core/rag/dbhandler", ROOT / "src/core/rag/indexing"]


def test_every_path_is_there() -> None:
    paths = {name for name in CODE if re.fullmatch(r"[\w./*-]+(/|\.py)", name) and "NAME" not in name}
    assert len(paths) > 10
    gone = [name for name in paths if not any(any(root.glob(name.rstrip("/"))) for root in SHORT)]
    assert not gone


def test_every_target_of_make_is_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"\bmake\s+([a-z-]+)", " ".join(CODE)))
    assert {"check", "test", "test-bolt"} <= targets
    assert not [target for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)]


def test_every_name_of_the_code_is_there() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    names = {name for name in CODE if re.fullmatch(r"[A-Z]\w+|[A-Z]\w+\.\w+|[a-z]+_[a-z_]+", name)}
    assert len(names) > 15
    assert not [
        name for name in names if not name.startswith(("MGRAG_TEST", "ENGINES")) and name.split(".")[-1] not in source
    ]
