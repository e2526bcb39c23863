"""``python -m mgrag``: the command, for when it is not on the PATH."""

from mgrag.cli import main

if __name__ == "__main__":
    main()
