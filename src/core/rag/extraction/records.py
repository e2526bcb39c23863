"""Entities of records: the values of certain fields, typed by field, and the links between them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from operator import attrgetter
from typing import Any, Final, NamedTuple

from core.rag.extraction.words import MAX_NAME_CHARS, normalize_name
from libs.dataloader.rich_text import texts_for_trees
from libs.dataloader.service_addresses import superfluous
from libs.regexes import regex

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

#: Relations between two fields of a record, from the first to the second.
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

#: Types that a collection named by the plural gives to its records: ``name`` in ``projects`` is a project. In a
#: collection of people it stays a name, to which relations such as ``works_at`` apply.
_THINGS: Final = frozenset({"company", "organization", "team", "department", "project", "product"})
#: Fields whose relations apply to things as they do to people.
_OF_THINGS: Final = frozenset({"email", "owner", "lead", "author", "category", "tag", "location", "city", "country"})

#: Fields that say what a record is about.
NAMING_FIELDS: Final = ("name", "fullname", "full_name", "title", "label", "id", "_id", "key", "number")

#: What things are filed under: a text may have several, with commas between them.
_FILED: Final = frozenset({"category", "tag", "topic", "skill"})
#: What JSON has besides lists and objects.
_SINGLE: Final = frozenset({str, int, float, bool, type(None)})
_SEPARATOR: Final = regex(r"[,;|\n]")

#: The relation of two fields that have no other.
TOGETHER: Final = "co_occurs"

#: Maximum number of entities of a record. Every pair is linked, which makes 2,016 links.
MAX_ENTITIES: Final = 64
#: Nested fields are entities down to this level; their texts can be searched at any level.
DEEPEST: Final = 4
#: How many parts of the path of a field the text of a record names: all of them, again for each value, would make the
#: text of one that is nested deeply much longer than the record.
_NAMED_PARTS: Final = 8

#: How much of a record is shown as its name.
_NAME_CHARS: Final = 80

_HINTS: Final = {hint: number for number, hint in enumerate(FIELD_HINTS)}
_NAME: Final = ("name",)
#: What the name of a field may be, and that of who speaks is not.
_FIELD_NAME: Final = regex(r"^((?:[a-z_]|\w*[._\[])[\w.\[\]-]*): ", re.MULTILINE)
_ANY_NAME: Final = regex(r"^([^\s|][^|\n]{0,300}?): ", re.MULTILINE)
_NEARLY_ALL: Final = 0.8
_FEWEST_NAMES: Final = 2
_WORDS: Final = regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_]+")


class RecordEntity(NamedTuple):
    """An entity of a record.

    Attributes:
        field: Path of the field, with dots.
        type: Its type, by the field.
        name: Its normalised name.
        text: Its spelling in the record.
    """

    field: str
    type: str
    name: str
    text: str


class Relation(NamedTuple):
    """A link between two entities of a record.

    Attributes:
        source: Normalised name of the start entity.
        target: Normalised name of the end entity.
        type: ``works_at``, ``co_occurs`` …
    """

    source: str
    target: str
    type: str


def entities_of(
    record: Mapping[str, Any], hints: Mapping[str, str] = FIELD_HINTS, collection: str = ""
) -> list[RecordEntity]:
    """Return the entities of a record: each name once, in the order of the fields, at most ``MAX_ENTITIES``.

    Of more, values of fields with a single one come before items of lists, so that a team with many members keeps its
    own name.

    Args:
        record: Fields by name; values that are texts, lists of texts, or nested records are used.
        hints: The type by the last word of a field's name. ``company_name``, ``name`` within ``company``, and ``name``
            in a collection ``companies`` are companies.
        collection: The collection of the record.
    """
    found: dict[str, RecordEntity] = {}
    thing = _thing(collection, hints)
    for path, value in texts_of(record, deepest=DEEPEST):
        kind = thing if thing and path == _NAME else type_of_path(path, hints)
        for name in _items(record, path, value) if kind in _FILED else (value,) if kind else ():
            entity = (_shared_entity if len(name) <= MAX_NAME_CHARS else _entity)(path, kind, name)
            if entity.name:
                found.setdefault(entity.name, entity)
    if len(found) <= MAX_ENTITIES:
        return list(found.values())
    values = Counter(entity.field for entity in found.values())
    kept = sorted(found.values(), key=lambda entity: values[entity.field] > 1)[:MAX_ENTITIES]
    names = {entity.name for entity in kept}
    return [entity for entity in found.values() if entity.name in names]


def _items(record: Mapping[str, Any], path: tuple[str, ...], value: str) -> Sequence[str]:
    """Return the items of a text in a field for several, as cells have them: ``tags: oak, elm``.

    An item of a list is one, whatever it says, and so is a name: ``members: Lane, Ada``.
    """
    if len(path) == 1 and isinstance(record[path[0]], str) and _is_plural(path[0]):
        return _SEPARATOR.split(value)
    return (value,)


def _is_plural(field: str) -> bool:
    return _words(field)[-1].endswith("s")


def items_of(field: str, text: str) -> list[str]:
    """Return the items of a text in a field of a record: of ``oak, elm`` in ``tags`` two, elsewhere one.

    Args:
        field: Name of the field, or of one within others, whose texts are one item each.
        text: Its value.
    """
    if "." not in field and _SEPARATOR.search(text) and type_of_path((field,), FIELD_HINTS) in _FILED:
        return [item for item in map(str.strip, _SEPARATOR.split(text)) if item] if _is_plural(field) else [text]
    return [text]


def _entity(path: tuple[str, ...], kind: str, value: str) -> RecordEntity:
    """Return the entity that a value is; it has no name if the value has none."""
    text = " ".join(value.replace("\0", " ").split())
    return RecordEntity(".".join(path), kind, normalize_name(text) if text else "", text)


#: The rows of a table have the same cities again and again: one object for all of them.
_shared_entity = lru_cache(maxsize=10_000)(_entity)


def relations_of(entities: Sequence[RecordEntity]) -> list[Relation]:
    """Return the links between the entities of a record: one for each pair."""
    relations = []
    for a, b in combinations(sorted(entities, key=attrgetter("name")), 2):
        forward, backward = _said(a, b), _said(b, a)
        if forward is None and backward is not None:
            relations.append(Relation(b.name, a.name, backward))
        else:
            relations.append(Relation(a.name, b.name, forward or TOGETHER))
    return relations


def with_hints(fields: Iterable[str]) -> dict[str, str]:
    """Return the default hints and further fields, whose names are their types."""
    return {**FIELD_HINTS, **{field.strip().lower(): field.strip().lower() for field in fields if field.strip()}}


def type_of_field(field: str, hints: Mapping[str, str]) -> str:
    """Return the type that a field of this name gives to its values; empty if they are no entities."""
    return type_of_path((field,), hints)


def without_field_names(content: str) -> str:
    """Return a passage of records, as readers write them, with the last words of the names of fields.

    ``created_at`` is no name that each of them has; and whether a number is a year depends on what it is called. Where
    nearly all lines of a record have names, each another one, these are names of fields, however they are written:
    ``Household Income``, ``CtryNm``. In a text, lines may begin with who speaks.
    """
    return "\n\n".join(map(_without_names, content.split("\n\n")))


def _without_names(record: str) -> str:
    pattern = _FIELD_NAME
    lines = record.strip("\n").split("\n")
    names = [found[1] for line in lines if (found := _ANY_NAME.match(line))]
    if len(names) >= max(_NEARLY_ALL * len(lines), _FEWEST_NAMES) and len(set(names)) == len(names):
        pattern = _ANY_NAME
    return pattern.sub(lambda found: f"{(_words(found[1]) or ('value',))[-1]}: ", record)


def record_text(record: Mapping[str, Any]) -> str:
    """Return a record as one line: ``name: Bob Smith, title: Tech Lead, skills: oak, elm``."""
    parts = []
    before: tuple[str, ...] = ()
    for path, value in told_of(record):
        text = value.strip()
        parts.append(text if path == before else f"{'.'.join(path[-_NAMED_PARTS:])}: {text}")
        before = path
    return ", ".join(parts)


def told_of(record: Mapping[str, Any]) -> list[tuple[tuple[str, ...], str]]:
    """Return what the text of a record tells: its fields and values, without addresses that are superfluous."""
    fields = list(texts_of(record, everything=True))
    left_out = superfluous(fields)
    return [field for place, field in enumerate(fields) if place not in left_out] if left_out else fields


def record_line(record: Mapping[str, Any]) -> str:
    """Return a record as one line without ``_id``, with the fields of hints first, in the order of the hints."""

    return record_text({key: value for key, value in in_order(record).items() if key != "_id"})


def in_order(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with the fields of hints first, in the order of the hints; stored ones are by the alphabet."""

    def order(key: str) -> tuple[int, str]:
        return (_HINTS.get(key.lower(), len(_HINTS)), key)

    return {key: record[key] for key in sorted(record, key=order)}


def record_name(record: Mapping[str, Any]) -> str:
    """Return what to call a record, which has no name: the beginning of its line; empty if it has no texts."""
    line = " ".join(record_line(record).split())
    return line if len(line) <= _NAME_CHARS else f"{line[:_NAME_CHARS]}…"


def texts_of(
    record: Any, *, everything: bool = False, deepest: int | None = None
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the texts of a record in order, each with the path of its field; not recursive, for deep nesting.

    What an editor left as a tree is one text.

    Args:
        record: Its fields.
        everything: Include numbers and the like.
        deepest: Maximum number of fields in a path; longer ones are left out.
    """
    if isinstance(record, Mapping) and is_flat(record):  # nearly all rows: a quarter of the time
        for key, value in record.items():
            if isinstance(value, str):
                if value.strip():
                    yield (str(key),), value
            elif everything and value is not None:
                yield (str(key),), str(value)
        return
    waiting: list[tuple[tuple[str, ...], Any]] = [((), record)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            if value.strip():
                yield path, value
        elif isinstance(value, dict) and isinstance(text := texts_for_trees(value), str):
            waiting.append((path, text))
        elif isinstance(value, Mapping):
            if deepest is None or len(path) < deepest:
                waiting += [((*path, str(key)), inner) for key, inner in reversed(list(value.items()))]
        elif isinstance(value, list | tuple):
            waiting += [(path, inner) for inner in reversed(value)]
        elif everything and value is not None:
            yield path, str(value)


def is_flat(record: Mapping[str, Any]) -> bool:
    """Return whether all values of a record are texts, numbers, and the like, and nothing has others in it."""
    return _SINGLE.issuperset(map(type, record.values()))


def _said(a: RecordEntity, b: RecordEntity) -> str | None:
    """Return the relation of the field of one entity to that of the other."""
    found = FIELD_RELATIONS.get((a.type, b.type))
    if found is None and a.field == "name" and a.type in _THINGS and b.type in _OF_THINGS:
        return FIELD_RELATIONS.get(("name", b.type))
    return found


def _thing(collection: str, hints: Mapping[str, str]) -> str:
    """Return the type of the records of a collection, if its name is a plural of one; ``team`` may list people."""
    words = _WORDS.findall(collection)
    kind = hints.get(words[0].lower(), "") if len(words) == 1 and words[0].lower().endswith("s") else ""
    return kind if kind in _THINGS else ""


def type_of_path(path: Sequence[str], hints: Mapping[str, str]) -> str:
    """Return the type of a field: by its last word, or, if that is ``name``, by what it is the name of."""
    words = [word for part in path for word in _words(part)]
    if not words or words[-1] in {"id", "ids"}:
        return ""
    kind = hints.get(words[-1]) or hints.get(path[-1].lower()) or hints.get("".join(_words(path[-1])), "")
    if kind in {"name", "title"} and len(words) > 1:
        return hints.get(words[-2], kind)
    return kind


@lru_cache(maxsize=4_096)
def _words(field: str) -> tuple[str, ...]:
    """Return the words of the name of a field, in small letters; all records of a table have the same fields."""
    return tuple(word.lower() for word in _WORDS.findall(field))
