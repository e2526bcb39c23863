"""The command ``mgrag``. Modules of this package parse, call KnowledgeBase, and print; nothing else."""

from __future__ import annotations


def main() -> None:
    """Run the command with the arguments of this process, and exit with its code."""
    from mgrag.cli.app import app

    app()


__all__ = ["main"]
