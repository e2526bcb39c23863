"""Boards of Trello, as it exports them: what each card shows, with its list, its checklists and its comments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from libs.dataloader.formats.base import Content
from libs.dataloader.formats.records import content_of_records

_COMMENTS: Final = frozenset({"commentCard", "copyCommentCard"})


def read_trello(data: Any) -> Content | None:
    """Convert a board to a record for each card, the open ones first.

    Cards name their list, their members and their checklists by numbers, which only the export resolves. What was done
    to a card (a thousand actions at most are in an export) is left out, but for who made it, and when.

    Returns:
        The cards; ``None`` if the data is no board.
    """
    if not isinstance(data, dict) or not all(isinstance(data.get(name), list) for name in ("cards", "lists")):
        return None
    cards = list(_objects(data, "cards"))
    if not all("idList" in card and "name" in card for card in cards):
        return None
    board = _Board(data)
    records = sorted(map(board.card, cards), key=lambda card: card["archived"])
    about = (str(data.get("name") or ""), str(data.get("desc") or ""))
    content = content_of_records(range(1, len(records) + 1), records.__getitem__, "\n\n".join(filter(None, about)))
    content.title = " ".join(about[0].split()) or None
    return content


class _Board:
    """What the numbers in the cards of a board stand for."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._lists = _names(_objects(data, "lists"))
        self._archived = {item.get("id") for item in _objects(data, "lists") if item.get("closed") is True}
        self._members = _names(_objects(data, "members"))
        self._labels = _names(_objects(data, "labels"))
        self._checks: dict[Any, list[str]] = defaultdict(list)
        for checklist in _objects(data, "checklists"):
            self._checks[checklist.get("idCard")] += _checks(checklist)
        self._made: dict[Any, Mapping[str, Any]] = {}
        self._comments: dict[Any, list[dict[str, Any]]] = defaultdict(list)
        for action in _objects(data, "actions"):
            about = action.get("data")
            if not isinstance(about, dict) or not isinstance(card := about.get("card"), dict):
                continue
            if action.get("type") == "createCard":
                self._made[card.get("id")] = action
            elif action.get("type") in _COMMENTS:
                said = {"author": _person(action), "date": action.get("date"), "text": about.get("text")}
                self._comments[card.get("id")].insert(0, said)  # the newest comes first there

    def card(self, card: Mapping[str, Any]) -> dict[str, Any]:
        """Return a card with what people see of it."""
        number, made = card.get("id"), self._made.get(card.get("id"), {})
        shown = {
            "card": card["name"],
            "card_number": card.get("idShort"),
            "list": self._lists.get(card["idList"]),
            "labels": [_label(label) for label in _objects(card, "labels")] or _found(card, "idLabels", self._labels),
            "members": _found(card, "idMembers", self._members),
            "due": card.get("due"),
            "done": True if card.get("dueComplete") is True else None,
            "archived": card.get("closed") is True or card["idList"] in self._archived,
            "description": card.get("desc"),
            "checklist": self._checks.get(number),
            "attachments": [item.get("name") or item.get("url") for item in _objects(card, "attachments")],
            "created": made.get("date"),
            "created_by": _person(made),
            "last_activity": card.get("dateLastActivity"),
            "address": card.get("shortUrl") or card.get("url"),
            "comments": self._comments.get(number),
        }
        return {name: value for name, value in shown.items() if value not in (None, "", [])}


def _objects(data: Mapping[str, Any], name: str) -> Iterator[dict[str, Any]]:
    items = data.get(name)
    return (item for item in items if isinstance(item, dict)) if isinstance(items, list) else iter(())


def _names(items: Iterable[Mapping[str, Any]]) -> dict[Any, str]:
    return {item.get("id"): name for item in items if (name := item.get("fullName") or _label(item))}


def _label(item: Mapping[str, Any]) -> str:
    return str(item.get("name") or item.get("color") or "")


def _found(card: Mapping[str, Any], name: str, names: Mapping[Any, str]) -> list[str]:
    numbers = card.get(name)
    return [names[one] for one in numbers if one in names] if isinstance(numbers, list) else []


def _checks(checklist: Mapping[str, Any]) -> Iterator[str]:
    for item in _objects(checklist, "checkItems"):
        yield f"{checklist.get('name')}: {item.get('name')}{' (done)' if item.get('state') == 'complete' else ''}"


def _person(action: Mapping[str, Any]) -> str | None:
    member = action.get("memberCreator")
    return member.get("fullName") or member.get("username") if isinstance(member, dict) else None
