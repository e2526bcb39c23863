"""Tables whose first row names no columns: forms (a name and a value in each row), and rows that are all alike."""

from __future__ import annotations

from collections.abc import Sequence

from libs.dataloader.formats.base import escaped
from libs.dataloader.formats.rows import goes_on, is_number, is_year
from libs.dataloader.table_heads import data_table
from libs.dataloader.tables import markdown_table, rectangular
from libs.regexes import regex

#: Columns of a name and its value.
OF_FIELD = 2
#: More of them are data.
MOST_FIELDS = 50
_LONGEST_NAME = 80  # characters, of a field
_DATE = regex(r"\d{4}-\d{2}-\d{2}(?:[T ].*)?")
#: Values of different kinds, which no column has, and which none is called. What is of none of them is text.
_KINDS = tuple(
    regex(pattern)
    for pattern in (
        r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(?:[T ].*)?|\d{1,2}\.? [^\W\d]{3,10}\.?,? \d{4}|[^\W\d]{3,10} \d{1,2}, \d{4}",
        r"\S+@\S+\.\w+",
        r"(?:https?://|www\.)\S+",
        r"\+?[\d(][\d ()/.-]{6,}",
        r"[€$£¥]?\s?\d[\d.,]*(?:\s?(?:%|[A-Z]{3}|[€$£¥])|\s[A-Za-zµ°Ω/²³]{1,5})?",
    )
)
_AMOUNT, _TEXT = 4, len(_KINDS)
#: A name and a value in one cell.
_LABELLED = regex(r"([^\W\d_][^:\n]{1,59}):\s(\S.*)")
_FEWEST_KINDS = 3
#: What forms, cover sheets, invoices and data sheets ask for. In English, German, French, Spanish, Italian, Dutch and
#: Portuguese.
_FIELD = regex(
    r"(?:[\w-]+ ){0,2}(?:names?|titles?|dates?|address(?:es)?|e-?mail|phone|telephone|mobile|fax|persons?|contacts?"
    r"|numbers?|no\.?|nr\.?|id|code|ref(?:erence|\.)?|time|by|until|to|status|ratings?|level|amount|total|price|cost|fee"
    r"|rate|budget|terms|period|version|revision|manager|supervisor|owner|officer|department|division|company"
    r"|organi[sz]ation|location|place|site|ur[il]|link|type|category|size|weight|height|width|depth|length|power"
    r"|voltage|capacity|speed|temperature)(?: (?:of \w+|\((?:s|es|\w{1,12})\)))?"
    r"|surname|initials|subject|birthday|age|gender|sex|nationality|languages?|street|city|town|state|country"
    r"|(?:post(?:al)?|zip) ?code|venue|room|url|unit|employer|position|role|grade|salary|occupation|profession"
    r"|experience|education|qualifications?|skills|edition|authors?|editor|publisher|isbn|doi|creator|classification"
    r"|confidentiality|approver|last (?:updated?|modified|reviewed|changed)|effective|created|modified|expires?"
    r"|(?:created|approved|submitted|issued|updated) (?:on|at)|project|programme|client|customer|supplier|vendor"
    r"|contractor|buyer|seller|sponsor|currency|tax|vat|quantity|bank|iban|bic|swift|account|brand|manufacturer|model"
    r"|dimensions?|colou?r|material|frequency|memory|storage|battery|interface|warranty|insurance|certificates?|origin"
    r"|start|end|duration|attendees|participants|present|chair(?:person)?|minute[- ]taker|purpose|scope|goals?"
    r"|objectives?|priority|severity|risks?|keywords|licen[cs]e"
    r"|\w*name|geburts(?:datum|tag|ort)|\w*datum|anschrift|adresse|stra(?:ß|ss)e|ort|plz|land|telefon|\w*nummer"
    r"|abteilung|firma|funktion|stelle|autor(?:in)?|verfasser|betreff|projekt|kunde|menge|preis|betrag|summe|gewicht|farbe"
    r"|nom|prénom|adresse|ville|pays|téléphone|fonction|auteur|objet|client|montant|poids|statut"
    r"|nombre|apellidos?|fecha|dirección|ciudad|país|teléfono|cargo|empresa|autor|asunto|cliente|importe|peso|estado"
    r"|nome|cognome|data|indirizzo|città|paese|telefono|azienda|autore|oggetto|importo"
    r"|naam|voornaam|achternaam|adres|plaats|telefoon|functie|afdeling|bedrijf|onderwerp|klant|bedrag"
    r"|apelido|endereço|cidade|telefone|assunto|valor"
)
#: What the second column of other tables is called.
_NAMES_VALUES = regex(
    r".*\b(?:values?|descriptions?|details?|meanings?|definitions?|explanations?|comments?|notes?|remarks?|answers?"
    r"|examples?|defaults?|usage|text|contents?|information|result|wert|beschreibung|bedeutung|erklärung|bemerkung"
    r"|valeur|description|signification|valor|descripción|significado|valore|descrizione|waarde|omschrijving|descrição)"
)


def guessed_table(rows: Sequence[Sequence[str]], *, labelled: bool = False) -> str:
    """Return a table of a document that does not say whether its first row names the columns, as Markdown.

    A form becomes lines of names and values, below its title if its first row is no more than that. Where the first
    row is numbered like all others, the head is empty.

    Args:
        rows: The cells; see :func:`libs.dataloader.table_heads.data_table`.
        labelled: Whether the cells of the first column alone are set off, as in bold letters.

    Raises:
        UnreadableError: if it becomes too long.
    """
    cells = rectangular(rows)
    title = [" ".join(cells[0][0].split())] if not any(cells[0][1:]) else []
    if fields := fields_of(cells[len(title) :], labelled=labelled) or _labelled_cells(cells[len(title) :]):
        return "\n\n".join([*title, field_lines(fields)])
    return markdown_table([[""] * len(cells[0]), *cells]) if _is_numbered(cells) else data_table(rows)


def fields_of(rows: Sequence[Sequence[str]], *, labelled: bool = False) -> list[tuple[str, str]]:
    """Return the names and values of a table if that is what it has in place of columns with a header; else none.

    Its first row says the name of a field and a value, or names end with a colon, or are what forms usually ask for.
    Several such pairs may stand side by side.

    Args:
        rows: The cells, in rows of the same length.
        labelled: Whether the cells of the first column alone are set off, as in bold letters.
    """
    width = len(rows[0]) if rows else 0
    if not width or width % OF_FIELD or len(rows) < 2 or len(rows) * width > 2 * MOST_FIELDS:
        return []
    pairs = [(row[place].strip(), row[place + 1].strip()) for row in rows for place in range(0, width, OF_FIELD)]
    fields = [(name, value) for name, value in pairs if name or value]
    names, values = [name for name, _ in fields], [cell.strip() for cell in rows[0][1::OF_FIELD]]
    if len({*names}) < len(names) or not all(map(_may_name, names)) or not any(value for _, value in fields):
        return []
    if 2 * sum(name.endswith(":") for name in names) > len(names):
        is_form = not values[0].endswith(":")
    elif any(map(_may_head, values)):
        is_form = False
    else:
        kinds = {_kind(value) for _, value in fields if value}
        is_mixed = labelled or _kind(values[0]) != _TEXT or len(kinds) >= _FEWEST_KINDS
        is_form = (is_mixed and width == OF_FIELD) or _are_usual(names)
    if not is_form:
        return []
    return [(name.rstrip(": ") if value else name, " ".join(value.split())) for name, value in fields]


def _labelled_cells(rows: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    """Return the names and values of a table whose cells each have both ("Grade: GS-7"), in any place; else none."""
    cells = [" ".join(cell.split()) for row in rows for cell in row if cell.strip()]
    found = [_LABELLED.fullmatch(cell) for cell in cells]
    first = rows[0] if rows else ()
    if sum(map(bool, first)) < 2 or not all(map(_LABELLED.fullmatch, map(str.strip, first))):
        return []
    if 2 * sum(map(bool, found)) <= len(cells) or len(cells) > MOST_FIELDS:
        return []
    return [(one[1], one[2]) if one is not None else (cell, "") for one, cell in zip(found, cells, strict=True)]


def field_lines(fields: Sequence[tuple[str, str]]) -> str:
    """Return names and values as lines of Markdown."""
    return escaped("\n".join(f"{name}: {value}" if value else name for name, value in fields))


def _is_numbered(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether each row begins with a number, or one of a series, the first one too."""
    first, *others = (row[0].strip() for row in rows)
    told = [cell for cell in others if cell]
    return bool(told) and (all(map(is_number, (first, *told))) or goes_on(first, told))


def _may_name(text: str) -> bool:
    return 0 < len(text) <= _LONGEST_NAME and not is_number(text) and _DATE.fullmatch(text) is None


def _kind(text: str) -> int:
    """Return of which kind a value is; that of the text if it is of none, and for a year, which may name a column."""
    if is_number(text):
        return _TEXT if is_year(text) else _AMOUNT
    return next((kind for kind, pattern in enumerate(_KINDS) if pattern.fullmatch(text) is not None), _TEXT)


def _may_head(text: str) -> bool:
    """Return whether a text may be the name of a column of values."""
    bare = text.rstrip(": ").casefold()
    return len(bare) <= _LONGEST_NAME and any(
        pattern.fullmatch(bare) is not None for pattern in (_FIELD, _NAMES_VALUES)
    )


def _are_usual(names: Sequence[str]) -> bool:
    """Return whether half of some names, the first one and another among them, are usual in forms."""
    usual = [_FIELD.fullmatch(name.rstrip(": ").casefold()) is not None for name in names]
    return usual[0] and 2 * sum(usual) >= max(len(names), 4)
