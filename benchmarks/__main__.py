"""``python -m benchmarks [NAME …] [--eval FOLDER]``: graph, ingest, scale, conversation, memory, answers …"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from benchmarks import answers, changes, conversation, dialogues, drift, graph, ingest, memory, scale

BENCHMARKS = {
    "ingest": ingest.main,
    "scale": scale.main,
    "graph": graph.main,
    "conversation": conversation.main,
    "sensitivity": conversation.sensitivity,
    "memory": memory.main,
    "dialogues": dialogues.main,
    "changes": changes.main,
    "drift": drift.main,
    "answers": answers.main,
}


def main() -> None:
    """Run the benchmarks that were named, or all of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(BENCHMARKS)}; default: all")
    parser.add_argument("--eval", type=Path, default=Path("../shared/eval"), help="folder with the data sets")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}")
    if not arguments.eval.is_dir():
        parser.error(f"there is no folder {arguments.eval}; name the one with the data sets with --eval")
    for name in arguments.names or BENCHMARKS:
        print(f"\n== {name}", flush=True)
        asyncio.run(BENCHMARKS[name](arguments.eval))


if __name__ == "__main__":
    main()
