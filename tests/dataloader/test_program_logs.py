"""Logs of programs are tables: when, how serious, who, what."""

from __future__ import annotations

import pytest

from tests.dataloader.filetools import convert

SYSLOG = """\
Oct  9 04:06:18 weir cron(pam_unix)[2141]: session opened for user ada by (uid=0)
Oct  9 04:06:20 weir rotate: ALERT exited with [1]
Oct 10 13:55:36 weir sshd[4711]: Failed password for una from 10.0.0.7 port 4242 ssh2
Oct 10 13:55:37 weir sshd[4711]: Failed password for una from 10.0.0.7 port 4242 ssh2
Oct 10 13:56:01 weir kernel: gate: closed
"""
SPOKEN = "time | level | component | process | message"


@pytest.mark.parametrize(
    ("line", "record"),
    [
        (
            "2025-10-09 04:06:18,978 ERROR [main] org.mill.Wheel: no water",
            ("2025-10-09 04:06:18.978", "ERROR", "org.mill.Wheel", "main", "no water"),
        ),
        (
            "2025-10-09 04:06:18,978 - WARN  [Gate[id=1]/0:0:2181:Sluice@774] - Notification time out: 3200",
            ("2025-10-09 04:06:18.978", "WARN", "Gate[id=1]/0:0:2181:Sluice@774", None, "Notification time out: 3200"),
        ),
        (
            "2025-10-09 04:06:18,978 - mill.wheel - INFO - turning",
            ("2025-10-09 04:06:18.978", "INFO", "mill.wheel", None, "turning"),
        ),
        (
            "2025-10-09 04:06:18,978 [http-8080-exec-9] INFO  org.mill.Wheel - turning - slowly",
            ("2025-10-09 04:06:18.978", "INFO", "org.mill.Wheel", "[http-8080-exec-9]", "turning - slowly"),
        ),
        ("2025-10-09 04:06:18 [INFO] [1] turning", ("2025-10-09 04:06:18", "INFO", None, "1", "turning")),
        ("[2025-10-09 04:06:18] worker.ERROR: no lock", ("2025-10-09 04:06:18", "ERROR", "worker", None, "no lock")),
        (
            "25/10/09 04:06:18 INFO mill.Wheel: turning",
            ("2025-10-09 04:06:18", "INFO", "mill.Wheel", None, "turning"),
        ),
        ("251009 040618 148 INFO mill.Wheel: on", ("2025-10-09 04:06:18", "INFO", "mill.Wheel", "148", "on")),
        ("10-09 04:06:18.811  1702  2395 D Wheel: on", ("10-09 04:06:18.811", "D", "Wheel", "1702  2395", "on")),
        ("[Thu Oct 09 04:06:18 2025] [error] no water", ("Thu Oct 09 04:06:18 2025", "error", None, None, "no water")),
        (
            "E1009 04:06:18.123456       1 wheel.go:42] no water",
            ("1009 04:06:18.123456", "E", "wheel.go:42", "1", "no water"),
        ),
    ],
)
def test_parts_of_a_line(line: str, record: tuple[str | None, ...]) -> None:
    document = convert("mill.log", f"{line}\n" * 5)
    assert document.format == "table"
    assert len(document.records) == 5
    expected = dict(zip(SPOKEN.split(" | "), record, strict=True))
    assert document.records[4][1] == {name: value for name, value in expected.items() if value}


def test_syslog_has_hosts_and_programs() -> None:
    document = convert("messages", SYSLOG)
    assert document.content.split("\n")[0] == "| time | host | program | process | message |"
    assert document.records[1][1] == {
        "time": "Oct  9 04:06:20",
        "host": "weir",
        "program": "rotate",
        "message": "ALERT exited with [1]",
    }
    start, record = document.records[2]
    assert record["process"] == "4711"
    assert document.content[start:].startswith("| Oct 10 13:55:36 | weir | sshd | 4711 | Failed password for una")


def test_requests_to_a_web_server() -> None:
    line = '10.0.0.7 - ada [10/Oct/2025:13:55:36 +0000] "GET /mill?a=1 HTTP/1.1" 404 2326 "-" "curl/8.5"\n'
    document = convert("access.log", line * 5)
    record = document.records[0][1]
    assert record["time"] == "2025-10-10 13:55:36 +0000"
    assert (record["address"], record["user"], record["method"]) == ("10.0.0.7", "ada", "GET")
    assert (record["path"], record["status"], record["agent"]) == ("/mill?a=1", "404", "curl/8.5")


def test_traces_belong_to_the_event_before_them() -> None:
    trace = "Caused by: java.io.IOException: dry\n\tat org.mill.Wheel.turn(Wheel.java:42)\n"
    event = "2025-10-09 04:06:18,978 ERROR [main] org.mill.Wheel: no water\n"
    document = convert("mill.log", (event + trace) * 5)
    assert len(document.records) == 5
    message = "no water\nCaused by: java.io.IOException: dry\n\tat org.mill.Wheel.turn(Wheel.java:42)"
    assert document.records[0][1]["message"] == message


@pytest.mark.parametrize(
    "text",
    [
        SYSLOG[: SYSLOG.index("Oct 10")],  # too few lines to tell
        "2025-10-09 Ada came.\n" * 10,
        "On 2025-10-09 04:06:18 the gate closed.\n" + "Nobody knows why it did.\n" * 10,
        "04:06:18 Ada: Who is there?\n" * 10,
    ],
)
def test_what_is_no_log_stays_as_it_is(text: str) -> None:
    assert convert("notes.txt", text).content == text
