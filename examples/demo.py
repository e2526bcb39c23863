"""The first look: ingest the example corpus, search it in three ways, and say what to try next. Run by `make demo`.

It goes into a namespace of its own, `demo`, or the one that is named as an argument.
"""

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

NEXT = (
    ('search "Who lent money to Margaret Harrow?" -k 2', "another search"),
    ('ask "What is this about?"', "an overview of all documents"),
    ('ask "Who paid for the clay?"', "an answer with its sources"),
    ("records grants -g donor -m sum:amount_eur", "all rows of a table, summed"),
    ('graph path "Josiah Penrose" "Lighthouse Fund"', "how two names are connected"),
    ("status", "what the graph contains"),
)


def mgrag(*arguments: str) -> None:
    """Run the command as a user would, and stop when it fails."""
    shown = " ".join(f'"{word}"' if " " in word else word for word in arguments)
    print(f"\n$ mgrag {shown}", flush=True)
    code = subprocess.run([MGRAG, *arguments], check=False).returncode
    if code:
        sys.exit(code)


def show(command: str, what: str) -> None:
    """Print a command to type, and what it is for."""
    print(f"  .venv/bin/mgrag {command:<67} {what}")


def main(namespace: str = "demo") -> None:
    """The whole demonstration."""
    folder = CORPUS.relative_to(Path.cwd()) if CORPUS.is_relative_to(Path.cwd()) else CORPUS
    mgrag("ingest", str(folder), "--namespace", namespace)
    for mode, query in SEARCHES:
        mgrag("search", query, "-k", "3", "--mode", mode, "--namespace", namespace)
    print("\nTry next:")
    for command, what in NEXT:
        show(f"{command} --namespace {namespace}", what)
    print("With your own files:")
    show("ingest PATH_OR_URL", "files, folders, web pages")
    show("--help", "all commands")


if __name__ == "__main__":
    main(*sys.argv[1:2])
