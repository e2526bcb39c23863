"""How large a document may be follows from the memory of the machine, or of the container."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.rag.indexing.limits import BYTES_PER_CHUNK, memory_limit, most_chunks

GIB = 1 << 30


def test_a_quarter_of_the_memory_is_left() -> None:
    assert most_chunks(None) is None
    assert most_chunks(4 * GIB) == 53_687
    assert most_chunks(BYTES_PER_CHUNK // 10) == 1


@pytest.mark.parametrize(
    ("groups", "files", "found"),
    [
        ("0::/\n", {"memory.max": "1000000"}, 1_000_000),
        ("0::/\n", {"memory.max": "max"}, None),
        ("0::/a/b\n", {"a/b/memory.max": "max", "a/memory.max": "3000000", "memory.max": "9000000"}, 3_000_000),
        ("0::/a/outside\n", {"memory.max": "1000000"}, 1_000_000),
        ("5:cpu:/\n4:memory:/a\n0::/\n", {"memory/a/memory.limit_in_bytes": "2000000"}, 2_000_000),
        ("4:memory:/outside\n", {"memory/memory.limit_in_bytes": "2000000"}, 2_000_000),
        ("3:cpu:/a\n", {"a/memory.max": "1000000", "memory/memory.limit_in_bytes": "1000000"}, None),
    ],
)
def test_a_container_may_have_less_than_the_machine(
    tmp_path: Path, groups: str, files: dict[str, str], found: int | None
) -> None:
    without = memory_limit(tmp_path)
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(groups)
    for name, text in files.items():
        file = tmp_path / "sys/fs/cgroup" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")

    assert memory_limit(tmp_path) == (without if found is None else found)
