"""How questions call collections and fields, by their names and otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from core.rag.answering.computing.cues import words_of
from core.rag.answering.computing.question import Question, Span, name_words
from core.rag.dbhandler.knowledge.record_rows import DOCUMENTS
from libs.regexes import regex

#: What the name of a field may end with, and a question leaves out.
MONEY_WORDS: Final = words_of("eur euro euros usd dollar dollars gbp chf")
UNIT_WORDS: Final = MONEY_WORDS | words_of("pct percent kg g t km m cm mm ha l ms s min h")
_ASKS_YES_OR_NO: Final = frozenset({"is", "has", "are", "was", "ist", "hat", "est", "es"})
#: What the name of a field is not called without: the average of ``max_load`` is no average load.
_MEASURED: Final = frozenset({"max", "min", "maximum", "minimum", "avg", "average", "mean", "median", "total", "sum"})
#: What those have done that a field names ("Which of them did Ada write?"), or do who have an amount in it.
_WRITTEN: Final = "write writes wrote written geschrieben verfasst écrit écrits écrites escrito escritos"
_OPENED: Final = "opened reported filed raised submitted gemeldet eröffnet ouvert ouverts signalé signalés abierto"
_EARNED: Final = "earn earns earned verdienen verdient gagner gagne gagnent ganar gana ganan"
_DONE: Final[Mapping[str, frozenset[str]]] = {
    name: words_of(words)
    for name, words in {
        "author": f"{_WRITTEN} {_OPENED}",
        "creator": f"created {_OPENED}",
        "authors": _WRITTEN,
        "assignee": "assigned",
        "assignees": "assigned",
        "members": "assigned",
        "reporter": _OPENED,
        "owner": "owned owns",
        "manager": "managed manages",
        "supplier": "supplied supplies supply",
        "reviewer": "reviewed reviews",
        "approver": "approved approves",
        "seller": "sold",
        "buyer": "bought",
        "director": "directed",
        "producer": "produced",
        "designer": "designed",
        "salary": _EARNED,
        "wage": _EARNED,
        "income": _EARNED,
        "gehalt": _EARNED,
        "lohn": _EARNED,
    }.items()
}
#: How a server answers, before the status that it has: "failed with 500", "returned a 404".
ANSWERED: Final = words_of("fail failed return returned respond responded answer answered end ended give gave get got")
#: What is done with amounts of money.
SPENDING: Final = words_of(
    "spend spends spent pay pays paid ausgegeben bezahlt gezahlt dépensé dépense payé gastado gastamos pagado"
)
AMOUNTS: Final = words_of("amount amounts betrag montant importe")
#: What has an amount of money: the largest one is that of the largest amount.
PAID: Final = words_of(
    "expense expenses order orders invoice invoices payment payments sale sales deal deals transaction transactions "
    "purchase purchases bill bills donation donations grant grants loan loans ausgabe ausgaben rechnung rechnungen "
    "zahlung zahlungen bestellung bestellungen facture factures dépense dépenses factura facturas gasto gastos"
)
#: What documents with fields are mostly.
_DOCUMENTS: Final = ("posts", "articles", "pages", "papers", "notes")
#: Names that are written short.
_IN_FULL: Final = {"qty": "quantity", "amt": "amount", "dept": "department", "desc": "description", "addr": "address"}
#: Whom a collection called so has rows of.
_PEOPLE: Final = words_of("employee employees staff personnel member members person persons participant participants")
#: What an object in a record is called by: its name is that of the field with it.
_CALLED: Final = words_of("name login username title displayname fullname")
#: What a field ends with that numbers the records: each has its own "Book Id".
_NUMBERS: Final = words_of("id ids key number no nr num")
#: What the name of a column has behind it: ``Area (km²)``.
_IN_BRACKETS: Final = regex(r"(?:\s*(?:\([^()]*\)|\[[^\[\]]*\]))+\Z")
#: What the name of a list says besides what it lists: that it is one, of what, and where these are.
_LISTS: Final = words_of(
    "list lists export exports data dataset table overview register directory database db dump backup copy final all "
    "liste übersicht uebersicht daten tabelle verzeichnis données tableau lista datos tabla"
)
_LIST: Final = regex(r"(?<=\w{3})(?:liste|daten|tabelle|übersicht|uebersicht|verzeichnis|export)\Z")
_LISTED_OF: Final = words_of("of the our my der die das unserer des les de los las")
_LISTED_WHERE: Final = words_of("in from for at aus für fuer pour dans en para")


def short_names(name: str, units: frozenset[str], *, yes_or_no: bool) -> set[str]:
    """Return how a question may call a field: ``order.amount_eur`` also ``amount_eur``, ``amount eur``, ``amount``.

    What is yes or no is not called by its last word, which ``never_active`` denies, but ``is_active`` is; nor is
    ``max_load``.
    """
    bare = _meant(_bare(name))
    words = own_words(bare, units)
    plain = _ASKS_YES_OR_NO.issuperset(words[:-1]) if yes_or_no else _MEASURED.isdisjoint(words[:-1])
    last = words[-1:] if plain else []
    in_full = " ".join(_IN_FULL.get(word, word) for word in words)
    return {name, bare, bare.rpartition(".")[2], name.rpartition(".")[2], " ".join(words), in_full, *last}


def done(name: str) -> frozenset[str]:
    """Return what those have done that a field names: ``author`` has who wrote something."""
    return _DONE.get(main_word(_meant(name)), frozenset())


def numbered(name: str) -> str:
    """Return what a field numbers: ``Book Id`` books, ``issue_key`` issues; empty, if it numbers nothing."""
    words = name_words(name)
    return " ".join(words[:-1]) if "." not in name and len(words) > 1 and words[-1] in _NUMBERS else ""


def _meant(name: str) -> str:
    """Return the name of the field with an object for that of what it is called by: ``labels`` for ``labels.name``."""
    above, _, last = name.partition(".")
    return above if last.replace("_", "").casefold() in _CALLED else name


def own_words(name: str, units: frozenset[str] = UNIT_WORDS) -> list[str]:
    """Return the words of the name of a field, without what leads to it and the unit of its values."""
    words = name_words(name.rpartition(".")[2])
    while len(words) > 1 and words[-1] in units:
        words.pop()
    return words


def main_word(name: str) -> str:
    """Return the last word of the name of a field, without its unit; empty, if it has none."""
    return next(reversed(own_words(_bare(name))), "")


def _bare(name: str) -> str:
    return _IN_BRACKETS.sub("", name) or name


def is_shortened(name: str, span: Span) -> bool:
    """Return whether a place names a field by its last word only: ``unit_price`` as "price"."""
    return len(span) < len(own_words(name))


def collection_named(question: Question, name: str) -> bool:
    """Return whether a question names a collection."""
    return any(True for called in collection_names(name) for _ in question.named(called))


def collection_names(name: str) -> dict[str, None]:
    """Return how a question may call a collection: by its words, by those without numbers (``sales-2024``), or by what
    it lists.

    ``List of hospitals in Ohio`` and ``hospitals_export`` are hospitals, ``Kundenliste`` are Kunden; but
    ``orders_per_month`` are no orders.
    """
    in_full = name_words(name)
    words = [word for word in in_full if not word.isdigit()]
    listed = [one for word in words if (one := _LIST.sub("", word)) and one not in _LISTS]
    while listed and listed[0] in _LISTED_OF | _LISTED_WHERE:
        del listed[0]
    place = next((at for at, word in enumerate(listed) if word in _LISTED_WHERE), len(listed))
    # ``OpenSSH`` is asked for in one word.
    names = dict.fromkeys((name, *(" ".join(found) for found in (in_full, words, listed[:place]) if found)))
    if name == DOCUMENTS:
        return names | dict.fromkeys(_DOCUMENTS)
    return names | dict.fromkeys(["people"] if not _PEOPLE.isdisjoint(listed[:place][-1:]) else [])
