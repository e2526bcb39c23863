"""A damaged log costs no commit without a word; one that a crash has torn opens as before."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from core.rag.dbhandler.embedded import engine as grafeo_engine
from core.rag.dbhandler.embedded.commitlog import log_folder
from core.rag.dbhandler.embedded.log import damage_in
from core.rag.errors import StoreDamagedError

COMMITS = 12


def commit(db: Any, number: int) -> None:
    transaction = db.begin_transaction()
    transaction.execute_cypher("CREATE (n:Topic {id: $id, text: $text})", {"id": f"t{number}", "text": "a text " * 40})
    transaction.commit()


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """A graph as a killed process leaves it: all commits are in the log."""
    file, copy = tmp_path / "open.grafeo", tmp_path / "killed.grafeo"
    handles = [grafeo_engine.open_engine(file)]
    for number in range(COMMITS):
        commit(handles[0], number)
    shutil.copyfile(file, copy)
    shutil.copytree(log_folder(file), log_folder(copy))
    grafeo_engine.close_engine(handles)
    return copy


def log_of(file: Path) -> Path:
    return max(log_folder(file).glob("*.log"))


def topics(file: Path) -> int:
    handles = [grafeo_engine.open_engine(file)]
    rows = list(handles[0].execute_cypher("MATCH (n:Topic) RETURN count(n) AS n"))
    grafeo_engine.close_engine(handles)
    return int(rows[0]["n"])


def flip(file: Path, place: int) -> bytes:
    data = bytearray(log_of(file).read_bytes())
    data[place] ^= 1
    log_of(file).write_bytes(data)
    return bytes(data)


def test_a_log_that_is_whole_is_taken_in(killed: Path) -> None:
    assert damage_in(log_of(killed).read_bytes()) is None
    assert topics(killed) == COMMITS


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8, 0.99])
def test_a_flipped_byte_is_reported_before_any_commit_is_lost(share: float, killed: Path) -> None:
    before = (killed.read_bytes(), flip(killed, int(len(log_of(killed).read_bytes()) * share)))
    with pytest.raises(StoreDamagedError, match=r"\.log is damaged at byte \d+: .*mgrag restore.*truncate -s") as told:
        grafeo_engine.open_engine(killed)
    assert (killed.read_bytes(), log_of(killed).read_bytes()) == before
    place = int(re.findall(r"truncate -s (\d+)", str(told.value))[0])
    log_of(killed).write_bytes(before[1][:place])
    assert topics(killed) in range(COMMITS)


def test_wherever_a_record_is_damaged_that_has_others_behind_it(killed: Path) -> None:
    log = log_of(killed).read_bytes()
    last = damage_in(bytes([*log[:-1], log[-1] ^ 1]))
    assert last is not None
    for place in range(128, last):
        assert damage_in(bytes([*log[:place], log[place] ^ 1, *log[place + 1 :]])) is not None, place


@pytest.mark.parametrize("lost", [1, 20, 100, 1000])
def test_an_end_that_was_cut_off_is_no_damage(lost: int, killed: Path) -> None:
    log_of(killed).write_bytes(log_of(killed).read_bytes()[:-lost])
    assert COMMITS - 1 - lost // 300 <= topics(killed) < COMMITS


def test_zeros_are_what_a_power_cut_leaves_and_no_damage(killed: Path) -> None:
    log = log_of(killed).read_bytes()
    assert len(log) > 4096
    assert damage_in(log + bytes(5000)) is None
    assert damage_in(log[:-300] + bytes(300)) is None
    hole = bytes(8192)  # a page that did not get there, though one behind it did
    assert damage_in(log[:200] + hole + log[8392:]) is None
    log_of(killed).write_bytes(log + bytes(5000))
    assert topics(killed) == COMMITS


def test_a_log_that_cannot_be_read_is_left_to_the_engine(killed: Path) -> None:
    (log_folder(killed) / "wal_00000000000099999999.log").mkdir()
    assert topics(killed) == COMMITS
