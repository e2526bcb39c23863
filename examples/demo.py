"""The first look: ingest the example corpus, search it in three ways, and say what to try next. Run by `make demo`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

MGRAG = Path(sys.executable).with_name("mgrag")
CORPUS = Path(__file__).with_name("corpus")

SEARCHES = (
    ("hybrid", "Why must the pond not be filled completely?"),
    ("keyword", "burr stones"),
    ("fuzzy", "Runing the mil"),
)

NEXT = """
Try next:
  .venv/bin/mgrag search "Who paid for the clay?" -k 3
  .venv/bin/mgrag ingest PATH_OR_URL     files, folders, web pages
  .venv/bin/mgrag status                 what is in the graph
  .venv/bin/mgrag --help                 everything else
"""


def mgrag(*arguments: str) -> None:
    """Run the command as a user would, and stop when it fails."""
    shown = " ".join(f'"{word}"' if " " in word else word for word in arguments)
    print(f"\n$ mgrag {shown}", flush=True)
    code = subprocess.run([MGRAG, *arguments], check=False).returncode
    if code:
        sys.exit(code)


def main() -> None:
    """The whole demonstration."""
    folder = CORPUS.relative_to(Path.cwd()) if CORPUS.is_relative_to(Path.cwd()) else CORPUS
    mgrag("ingest", str(folder), "--namespace", "demo")
    for mode, query in SEARCHES:
        mgrag("search", query, "-k", "3", "--mode", mode, "--namespace", "demo")
    print(
        NEXT.replace("mgrag search", "mgrag search --namespace demo").replace(
            "mgrag status  ", "mgrag status --namespace demo  "
        )
    )


if __name__ == "__main__":
    main()
