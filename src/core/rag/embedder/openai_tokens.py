"""Counts tokens like OpenAI's embedding models, without network access.

``tiktoken`` downloads an encoding when it is first used, which fails or hangs without a network. So it is never asked
to: the file of the encoding is looked for in tiktoken's cache folder and in llama-index-core, which carries a copy. If
there is none, the number of UTF-8 bytes serves as an upper bound, which holds for every byte-level encoding.
"""

from __future__ import annotations

import base64
import binascii
import functools
import hashlib
import importlib.util
import logging
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.rag.settings import Settings

    type Counter = Callable[[str], int]

# cl100k_base, the encoding of text-embedding-3-small, -3-large and -ada-002: the name that tiktoken's cache gives its
# file, the file's SHA-256, and the rule by which text is cut before merging (all part of the encoding's definition).
_FILE = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
_RULE = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
# The longest token is 128 spaces: a text of more bytes than that per token allowed is too long without counting.
LONGEST_TOKEN_BYTES = 128

_log = logging.getLogger(__name__)


def offline_counter(settings: Settings) -> Counter | None:
    """Find an exact token counter that needs no network.

    Returns:
        A function from text to its number of tokens, or None: use the number of bytes as a bound then. The first call
        in a process takes about half a second.
    """
    return load_counter(tuple(encoding_folders(settings)))


def encoding_folders(settings: Settings) -> list[Path]:
    """List the folders in which the encoding may be, best first."""
    folders = [Path(settings.tiktoken_cache_dir)] if settings.tiktoken_cache_dir else []
    folders.append(Path(tempfile.gettempdir()) / "data-gym-cache")
    # Finding a package without importing it: llama_index.core takes seconds.
    spec = importlib.util.find_spec("llama_index")
    locations = (spec.submodule_search_locations or ()) if spec else ()
    return folders + [Path(location) / "core" / "_static" / "tiktoken_cache" for location in locations]


@functools.cache
def load_counter(folders: Sequence[Path], sha256: str = _SHA256) -> Counter | None:
    """Load the encoding from the first folder that has it, unchanged.

    Args:
        folders: Where to look (a tuple).
        sha256: What the file must hash to.

    Returns:
        The counter, or None.
    """
    if importlib.util.find_spec("tiktoken") is None:
        return None
    for folder in folders:
        ranks = _read_ranks(folder / _FILE, sha256)
        if ranks is not None:
            import tiktoken

            encoding = tiktoken.Encoding("cl100k_base", pat_str=_RULE, mergeable_ranks=ranks, special_tokens={})
            return lambda text: len(encoding.encode_ordinary(text))
    _log.debug("No encoding in %s: token counts are upper bounds", ", ".join(map(str, folders)))
    return None


def _read_ranks(path: Path, sha256: str) -> dict[bytes, int] | None:
    try:
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != sha256:
            return None
        return {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, data.splitlines())}
    except (OSError, ValueError, binascii.Error):
        return None
