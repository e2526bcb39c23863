"""``python -m mgrag``: the command, also where its folder is not on the PATH."""

from mgrag.cli import main

if __name__ == "__main__":
    main()
