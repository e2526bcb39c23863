"""The posts of a site of Stack Exchange, as its dumps have them: questions with their answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from libs.regexes import regex

_ANSWER: Final = "2"
_TAG: Final = regex(r"[^<>|\s]+")
#: What only the database needs.
_LEFT_OUT: Final = frozenset({"PostTypeId", "AcceptedAnswerId", "ContentLicense", "LastActivityDate"})


def as_questions(rows: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Return rows of ``Posts.xml`` as questions, each with its answers; as they are, if they are something else.

    An answer names its question by a number: alone, it does not say what it answers, and so it is not found.
    """
    if not all("PostTypeId" in row and "Id" in row for row in rows):
        return rows
    answers: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["PostTypeId"] == _ANSWER:
            answers[str(row.get("ParentId"))].append(row)
    asked = {str(row["Id"]) for row in rows if row["PostTypeId"] != _ANSWER}
    return [_post(row, answers[str(row["Id"])]) for row in rows if str(row.get("ParentId")) not in asked]


def _post(row: Mapping[str, Any], answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    post = {"Title": row.get("Title"), "Tags": _TAG.findall(str(row.get("Tags") or ""))}
    post |= {name: value for name, value in row.items() if name not in _LEFT_OUT | post.keys()}
    accepted = row.get("AcceptedAnswerId")
    best = sorted(answers, key=lambda one: (one["Id"] != accepted, -_score(one)))
    post["Answers"] = [
        {
            "author": "Accepted answer" if one["Id"] == accepted else "Answer",
            "date": one.get("CreationDate"),
            "text": one.get("Body"),
        }
        for one in best
    ]
    return {name: value for name, value in post.items() if value not in (None, "", [])}


def _score(row: Mapping[str, Any]) -> int:
    score = str(row.get("Score") or 0)
    return int(score) if score.removeprefix("-").isdecimal() and score.isascii() else 0
