"""Entities of records: the values of certain fields, typed by field, and the links between them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from core.rag.extraction.words import normalize_name

#: Fields whose values are entities, by the last word of the field, and the type that they give them. Only the spelling
#: of a list (``tags``) differs from its type (``tag``).
FIELD_HINTS: Final[Mapping[str, str]] = {
    hint: kind
    for kind, hints in {
        "name": "name names fullname label",
        "title": "title titles",
        "company": "company companies employer",
        "organization": "organization organizations organisation organisations org institution",
        "email": "email emails mail",
        "team": "team teams",
        "department": "department departments",
        "project": "project projects",
        "owner": "owner owners",
        "manager": "manager managers",
        "lead": "lead leads leader leaders",
        "author": "author authors",
        "person": "person people contact contacts",
        "member": "member members",
        "customer": "customer customers client clients",
        "vendor": "vendor vendors supplier suppliers",
        "product": "product products",
        "category": "category categories",
        "tag": "tag tags keyword keywords",
        "topic": "topic topics",
        "skill": "skill skills",
        "role": "role roles",
        "location": "location locations place places",
        "city": "city cities",
        "country": "country countries",
    }.items()
    for hint in hints.split()
}

#: What two fields of one record say of each other; read from the first to the second.
FIELD_RELATIONS: Final[Mapping[tuple[str, str], str]] = {
    ("name", "title"): "has_title",
    ("name", "role"): "has_role",
    ("name", "company"): "works_at",
    ("name", "organization"): "belongs_to",
    ("name", "email"): "has_email",
    ("name", "team"): "member_of",
    ("name", "department"): "member_of",
    ("name", "project"): "works_on",
    ("name", "owner"): "owned_by",
    ("name", "manager"): "reports_to",
    ("name", "lead"): "led_by",
    ("name", "author"): "written_by",
    ("name", "category"): "in_category",
    ("name", "tag"): "tagged",
    ("name", "skill"): "has_skill",
    ("name", "location"): "located_in",
    ("name", "city"): "located_in",
    ("name", "country"): "located_in",
    ("title", "author"): "written_by",
    ("title", "category"): "in_category",
    ("title", "tag"): "tagged",
    ("company", "project"): "owns_project",
    ("company", "team"): "has_team",
    ("company", "city"): "located_in",
    ("company", "country"): "located_in",
    ("team", "project"): "works_on",
    ("team", "manager"): "managed_by",
    ("project", "owner"): "owned_by",
    ("project", "manager"): "managed_by",
    ("project", "lead"): "led_by",
}

#: What the records of a collection may be, where it is called by the plural: ``name`` in ``projects`` is a project. A
#: collection of people stays one of names, which is what ``works_at`` and the like are said of.
_THINGS: Final = frozenset({"company", "organization", "team", "department", "project", "product"})
#: Fields that say of a thing what they say of anybody with a name.
_OF_THINGS: Final = frozenset({"email", "owner", "lead", "author", "category", "tag", "location", "city", "country"})

#: What two fields that say nothing of each other have in common.
TOGETHER: Final = "co_occurs"

#: A record has at most so many entities: the first ones. Each two of them are linked, which makes 2,016 links.
MAX_ENTITIES: Final = 64
#: Fields within fields within fields are entities down to here; their text is found however deep it is.
_DEEPEST: Final = 4
#: How many parts of the path of a field the text of a record names: all of them, again for each value, would make the
#: text of one that is nested deeply much longer than the record.
_NAMED_PARTS: Final = 8

_HINTS: Final = {hint: number for number, hint in enumerate(FIELD_HINTS)}
_NAME: Final = ("name",)
_WORDS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class RecordEntity:
    """An entity of a record.

    Attributes:
        field: Path of the field, with dots.
        type: What the field makes of it.
        name: Normalised.
        text: As the record spells it.
    """

    field: str
    type: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Relation:
    """A link between two entities of a record.

    Attributes:
        source: Normalised name of the entity that it leads from.
        target: The same of the one that it leads to.
        type: ``works_at``, ``co_occurs`` …
    """

    source: str
    target: str
    type: str


def entities_of(
    record: Mapping[str, Any], hints: Mapping[str, str] = FIELD_HINTS, collection: str = ""
) -> list[RecordEntity]:
    """The entities of a record: each name once, in the order of the fields, the first ``MAX_ENTITIES``.

    Args:
        record: Fields by name; values that are texts, lists of these, or records again count.
        hints: The type by the last word of a field's name. ``company_name``, ``name`` within ``company``, and ``name``
            in a collection ``companies`` are companies.
        collection: What the record belongs to.
    """
    found: dict[str, RecordEntity] = {}
    thing = _thing(collection, hints)
    for path, value in _texts(record, deepest=_DEEPEST):
        kind = thing if thing and path == _NAME else _type(path, hints)
        text = " ".join(value.replace("\0", " ").split())
        name = normalize_name(text) if kind and text else ""
        if name and name not in found:
            found[name] = RecordEntity(".".join(path), kind, name, text)
    return list(found.values())[:MAX_ENTITIES]


def relations_of(entities: Sequence[RecordEntity]) -> list[Relation]:
    """The links between the entities of one record: one for each pair."""
    relations = []
    for a, b in combinations(sorted(entities, key=lambda entity: entity.name), 2):
        forward, backward = _said(a, b), _said(b, a)
        if forward is None and backward is not None:
            relations.append(Relation(b.name, a.name, backward))
        else:
            relations.append(Relation(a.name, b.name, forward or TOGETHER))
    return relations


def with_hints(fields: Iterable[str]) -> dict[str, str]:
    """The usual hints and further fields, whose names are their types."""
    return {**FIELD_HINTS, **{field.strip().lower(): field.strip().lower() for field in fields if field.strip()}}


def record_text(record: Mapping[str, Any]) -> str:
    """A record as one line: ``name: Bob Smith, title: Tech Lead``."""
    texts = _texts(record, everything=True)
    return ", ".join(f"{'.'.join(path[-_NAMED_PARTS:])}: {value}" for path, value in texts)


def record_line(record: Mapping[str, Any]) -> str:
    """A record as one line, who and what it is about first, in the order of the hints; without its ``_id``."""

    def order(key: str) -> tuple[int, str]:
        return (_HINTS.get(key.lower(), len(_HINTS)), key)

    return record_text({key: record[key] for key in sorted(record, key=order) if key != "_id"})


def _texts(
    record: Any, *, everything: bool = False, deepest: int | None = None
) -> Iterator[tuple[tuple[str, ...], str]]:
    """The texts of a record in order, each with the path of its field; without recursion, for it may be nested deeply.

    Args:
        record: Its fields.
        everything: Numbers and the like, too.
        deepest: How many fields a path has at most; longer ones are left out.
    """
    waiting: list[tuple[tuple[str, ...], Any]] = [((), record)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            if value.strip():
                yield path, value
        elif isinstance(value, Mapping):
            if deepest is None or len(path) < deepest:
                waiting += [((*path, str(key)), inner) for key, inner in reversed(list(value.items()))]
        elif isinstance(value, list | tuple):
            waiting += [(path, inner) for inner in reversed(value)]
        elif everything and value is not None:
            yield path, str(value)


def _said(a: RecordEntity, b: RecordEntity) -> str | None:
    """What the field of the one says of that of the other."""
    found = FIELD_RELATIONS.get((a.type, b.type))
    if found is None and a.field == "name" and a.type in _THINGS and b.type in _OF_THINGS:
        return FIELD_RELATIONS.get(("name", b.type))
    return found


def _thing(collection: str, hints: Mapping[str, str]) -> str:
    """What the records of a collection are, if its name is a plural that says so; ``team`` may well list people."""
    words = _WORDS.findall(collection)
    kind = hints.get(words[0].lower(), "") if len(words) == 1 and words[0].lower().endswith("s") else ""
    return kind if kind in _THINGS else ""


def _type(path: Sequence[str], hints: Mapping[str, str]) -> str:
    """The type that a field gives: by its last word, and where that is ``name`` by what it is the name of."""
    words = [word.lower() for part in path for word in _WORDS.findall(part)]
    if not words or words[-1] in {"id", "ids"}:
        return ""
    whole = "".join(_WORDS.findall(path[-1])).lower()
    kind = hints.get(words[-1]) or hints.get(path[-1].lower()) or hints.get(whole, "")
    if kind in {"name", "title"} and len(words) > 1:
        return hints.get(words[-2], kind)
    return kind
