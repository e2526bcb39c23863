"""Questions that count the lines of a log, by its fields and by what its messages say."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.rag import KnowledgeBase
from tests.dbhandler.kit import Engine

GATE = """\
2025-10-09 04:06:18,978 INFO [main] org.mill.Wheel: turning
2025-10-09 04:06:20,101 ERROR [main] org.mill.Wheel: bearing failure; side=left
2025-10-10 13:55:36,123 ERROR [tide] org.mill.Gate: Failed to close the gate at 3
2025-10-10 13:55:37,123 WARN [tide] org.mill.Gate: Failed to close the gate at 4
2025-10-11 08:00:00,000 ERROR [main] org.mill.Wheel: bearing failure; side=right
2025-10-11 08:00:01,000 INFO [main] org.mill.Wheel: stopped
"""
OPEN_LOCK = """\
Oct  9 04:06:18 weir sshd[12]: Invalid user guest from 10.0.0.7
Oct  9 04:06:19 weir sshd[12]: Invalid user guest from 10.0.0.7
Oct  9 04:06:20 weir sshd[13]: Accepted key for ada
Oct  9 04:06:21 weir cron[14]: job done
Oct  9 04:06:22 weir cron[14]: job done
"""
SERVED = "".join(
    f'10.0.0.{one} - - [{day:02}/Oct/2025:13:55:36 +0000] "{method} {path} HTTP/1.1" {status} 2326 "-" "curl/8.5"\n'
    for one, day, method, path, status in (
        *((7, 9, "GET", "/mill", 200), (7, 9, "GET", "/weir", 404), (8, 10, "POST", "/mill", 200)),
        *((7, 10, "GET", "/weir", 404), (9, 11, "GET", "/mill", 500), (9, 11, "GET", "/dam", 200)),
    )
)


@pytest.fixture
async def kb(engine: Engine, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    (tmp_path / "gate.log").write_text(GATE)
    (tmp_path / "OpenLock.log").write_text(OPEN_LOCK)
    (tmp_path / "access.log").write_text(SERVED)
    async with engine.knowledge() as opened:
        await opened.ingest([tmp_path])
        yield opened


async def test_lines_are_counted_and_compared(kb: KnowledgeBase) -> None:
    asked = {
        "How many lines does gate.log have?": "gate: 6 records",
        "How many ERROR lines are in gate.log?": "gate with level = ERROR: 3 of 6 records",
        "How many WARN messages are in gate.log?": "gate with level = WARN: 1 of 6 records",
        "How many errors in gate.log happened on 10 October 2025?": "level = ERROR and time in 2025-10-10: 1 of 6",
        "Which component has the most ERROR lines in gate.log?": "by component: org.mill.Wheel: 2",
        "How many lines of OpenLock.log are from sshd?": "OpenLock with program = sshd: 3 of 5 records",
        'How many lines in gate.log contain "Failed to close"?': "message contains failed to close: 2 of 6 records",
        "How many requests in access.log have status 404?": "access with status = 404: 2 of 6 records",
        "How many requests in access.log failed with 500?": "access with status = 500: 1 of 6 records",
        "How many requests in access.log returned a 404?": "access with status = 404: 2 of 6 records",
        "How many POST requests are in access.log?": "access with method = POST: 1 of 6 records",
        "How many requests per day are in access.log?": "by time:day: 2025-10-09: 2, 2025-10-10: 2, 2025-10-11: 2",
        "Which path has the most requests in access.log?": "by path: /mill: 3",
        "Which address made the most requests in access.log?": "by address: 10.0.0.7: 3",
        "How many bearing failures are in gate.log?": "or bearing failure: 2 of 6 records",
        "How many invalid users are in OpenLock.log?": "or invalid user: 2 of 5 records",
    }
    for question, expected in asked.items():
        assert expected in (await kb.ask(question)).text, question


async def test_a_log_that_is_not_named_is_counted_by_what_its_lines_are(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "access.log").write_text(SERVED)
    async with engine.knowledge() as kb:
        await kb.ingest([tmp_path])
        assert "access with method = POST: 1 of 6 records" in (await kb.ask("How many POST requests were there?")).text
        assert "records" not in (await kb.ask("How many requests are planned?")).text


@pytest.mark.parametrize(
    "question",
    [
        "How many dry bearings are in gate.log?",  # it may be said in other words
        "How many users are in OpenLock.log?",  # a word of a message may be anything
        "How many requests in access.log failed?",  # it does not say with what
    ],
)
async def test_what_is_unsure_is_not_counted(kb: KnowledgeBase, question: str) -> None:
    assert "records" not in (await kb.ask(question)).text
