"""Finds names in a text by rules: capitalised phrases, years, acronyms, quoted terms, code terms and headings.

Rules rather than a tagger: they cost microseconds, need no download, and treat every language alike. What they miss in
one text (names in lower case, scripts without capitals) is found where it is the title of a document; see
:mod:`core.rag.extraction.matching`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from html import unescape
from typing import Final

from core.rag.analysis.language import detect_language
from core.rag.extraction import patterns
from core.rag.extraction.acronyms import is_acronym
from core.rag.extraction.dates import is_before_number, is_in_date
from core.rag.extraction.long_forms import long_forms, without_form
from core.rag.extraction.marked import MASK, without_marked
from core.rag.extraction.openers import begins_title, is_key
from core.rag.extraction.phrases import MAX_WORDS, Phrase, function_words, phrase_of
from core.rag.extraction.places import begins_link, begins_sentence, follows_dash
from core.rag.extraction.shouting import without_shouts
from core.rag.extraction.unnamed import heads_no_thing, is_literal, names_nothing
from core.rag.extraction.words import is_unspaced, normalize_name
from core.rag.extraction.wrapping import unwrapped
from core.rag.headings import last_heading
from libs.regexes import regex

#: Maximum number of names of a chunk that are not titles; the first ones are kept.
MAX_NAMES: Final = 48

_YEAR: Final = regex(r"1[0-9]{3}|20[0-9]{2}")
_CODE: Final = regex(
    r"\w+_\w[\w]*|\w+(?:\.\w+)*\(.*\)|[a-z]+[A-Z]\w*"
    # Commands of PowerShell: Copy-Item is not CopyItem, a method.
    r"|(?:Add|Clear|Convert(?:From|To)?|Copy|Enter|Exit|Export|Find|Format|Get|Import|Invoke|Join|Measure|Move|New|Out|Pop"
    r"|Push|Read|Receive|Register|Remove|Rename|Restart|Resume|Save|Select|Send|Set|Show|Split|Start|Stop|Suspend|Test"
    r"|Unregister|Update|Use|Wait|Where|Write)-[A-Z]\w+"
)
#: The heading of source code: what is defined there, behind words that stand nowhere else, or with a name as only code
#: has it behind those that do (``class Client``, but not ``class hours``).
_DEFINITION: Final = regex(
    r"(?:def|defp|defmodule|fn|func(?: \(.*\))?|fun|mod|struct|enum|impl(?: .* for)?|typedef|typealias) ([\w.:$]+)"
    r"|(?:class|interface|trait|object|type|record|union|namespace|module|protocol|extension|actor|const|let|var|"
    r"method|function|constructor|macro|delegate) ([\w.:$]*[A-Z_][\w.:$]*)"
)
#: The same for what is called: only where the text has it with what it is called with (``function grind``, but not
#: ``function keys``).
_CALLED: Final = regex(r"(?:function|method|constructor|macro|delegate) ([\w.:$]+)")
#: A name as only products have it: PowerShell, GitHub.
_HUMP: Final = regex(r"[^\W\d_][a-z]+[A-Z]")
#: The dot that a name begins with: .NET, .NET Framework.
_DOT: Final = regex(r"\.(?=[A-Z])(?<![^\s(\[\"'/].)")
_SIGNS: Final = frozenset(".-")
#: What follows names, and nothing else, in Turkish: Norveç'ten.
_ENDING: Final = regex(r"['’][^\W\d_A-Z]")
#: A sentence goes on.
_GOES_ON: Final = regex(r",? [^\W\d_A-Z]")


@dataclass(slots=True)
class Found:
    """A name in a text.

    Attributes:
        text: Its first spelling.
        count: Number of occurrences.
    """

    text: str
    count: int = 1


def names_in(text: str, heading: str = "") -> dict[str, Found]:
    """Find the names in a text.

    Args:
        text: Text of a chunk: prose, Markdown, a row of a table.
        heading: Its heading path; the last part is also a name.

    Returns:
        Names by normalised name, in the order of the text, at most ``MAX_NAMES``.
    """
    found: dict[str, Found] = {}
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)  # an accent of its own, as in files of macOS, would end the word
    if "&" in text and ";" in text:
        text = unescape(text)
    rest = without_marked(text, partial(_add, found))
    if "\n" in rest:
        rest = unwrapped(rest)
    language = detect_language(rest.split())
    if "(" in rest:
        rest = _with_long_forms(rest, language, found)
    if not rest.isupper():
        _Capitalised(rest, language, found).find()
    if years := list(patterns.years_in(rest)):
        # With the names of fields, which are blanked out in the rest.
        written = set(years if rest == text else patterns.years_in(text))
        for year in filter(written.__contains__, years):
            _add(found, year)
    last = _headline(last_heading(heading), text)
    if last and last.count(" ") < MAX_WORDS and not _only_points(last, language):
        name = normalize_name(last)
        if name and name not in found and not heads_no_thing(last, name):
            found[name] = Found(patterns.without_symbols(last))
    return found if len(found) <= MAX_NAMES else dict(list(found.items())[:MAX_NAMES])


def _with_long_forms(text: str, language: str, found: dict[str, Found]) -> str:
    """Add what acronyms stand for; return the text with these blanked out, in the same length."""
    for form, acronym in long_forms(text, language).items():
        if name := normalize_name(form):
            found[name] = Found(" ".join(form.split()), text.count(form))
        text = without_form(text, form, MASK)
        if acronym.lower() in function_words(language):
            found.setdefault(acronym.lower(), Found(acronym, 0))
    return text


def _only_points(heading: str, language: str) -> bool:
    """Return whether a heading has only numbers, small letters of a list, and function words: "1. to 7.", "b."."""
    name = normalize_name(heading)
    common = function_words(language)
    of_points = all(word.isdigit() or word in common or len(word) == 1 for word in name.split())
    return name in common or (of_points and heading[:1].islower())


def _headline(heading: str, text: str) -> str:
    """Return a heading; of that of source code only the name of what is defined there."""
    if defined := _DEFINITION.fullmatch(heading):
        return str(defined[1] or defined[2])
    called = _CALLED.fullmatch(heading)
    if called and re.search(rf"\b{re.escape(called[1].rpartition('.')[2])}\(", text):
        return called[1]
    return patterns.without_number(heading)


def type_of(name: str) -> str:
    """Return the type of a name by its spelling: ``year``, ``acronym``, ``code``, ``name`` (capital) or ``term``."""
    if name[:1].isupper() and name.replace(" ", "").isalpha() and not name.isupper():
        return "name"  # the usual case
    if _YEAR.fullmatch(name):
        return "year"
    name = name.removeprefix(".")  # .NET
    if _CODE.fullmatch(name) and not is_unspaced(name):
        return "code"
    if patterns.ACRONYM.fullmatch(name):
        return "acronym"
    return "name" if any(map(str.isupper, name)) else "term"


class _Capitalised:
    """Finds the names among the capitalised phrases of a text.

    Phrases that are no name for sure are kept until the whole text was read: what else it names decides about them.

    Args:
        text: The text, without the terms that are marked as such.
        language: Its language.
        found: The names so far; names are added to these.
    """

    def __init__(self, text: str, language: str, found: dict[str, Found]) -> None:
        self._text = text
        self._language = language
        self._found = found
        self._unspaced = is_unspaced(text)
        self._has_dots = _DOT.search(text) is not None
        self._waiting: list[str] = []  # single words that begin a sentence: names only if they are names elsewhere
        self._opened: list[tuple[str, str]] = []  # phrases behind a word that opens the sentence, and with it
        self._commanded: list[tuple[str, Phrase]] = []  # behind a verb that begins a sentence, and with it
        self._led: list[Phrase] = []  # behind an article that begins a sentence
        self._acronyms: list[tuple[str, int]] = []  # that spell a function word, and where: names if the text says so

    def find(self) -> None:
        """Add the names."""
        text, language = self._text, self._language
        if " & " in text:
            self._text = text = patterns.with_and_signs(text)
        pattern = patterns.names(language, ascii_only=text.isascii(), unspaced=self._unspaced)
        matches = list(pattern.finditer(text))
        if any(" " in match[0] and match[0].isupper() for match in matches):
            self._text = text = without_shouts(text)
            matches = list(pattern.finditer(text))
        joined = []
        for match in matches:
            if " & " in match[0]:
                joined.append(match)
            elif (phrase := phrase_of(match[0], language)) is None:
                continue
            elif phrase.unit and patterns.is_behind_amount(text, match.start()):
                self._take_all(pattern.finditer(text, match.start() + len(phrase.unit), match.end()))
            else:
                self._take(match, phrase)
        for match in joined:  # what else the text names decides about them
            self._take_all(self._parts(match, pattern))
        self._decide_opened()
        self._decide_commanded()
        for phrase in self._led:
            if (whole := normalize_name(phrase.led)) in self._found:
                self._found[whole].count += 1
            elif phrase.name:
                _count(self._found, phrase.name, phrase.text)
        if self._acronyms:
            _add_acronyms(text, self._acronyms, self._found)
        for name in self._waiting:
            if name in self._found:
                self._found[name].count += 1

    def _take_all(self, matches: Iterable[re.Match[str]]) -> None:
        """Add the phrases that are names for sure, and keep the others."""
        for match in matches:
            phrase = phrase_of(match[0], self._language)
            if phrase is not None:
                self._take(match, phrase)

    def _take(self, match: re.Match[str], phrase: Phrase) -> None:
        """Add a phrase if it is a name for sure, or keep it."""
        text = self._text
        start, end = match.span()
        if phrase.dated and not is_in_date(text, start, end):
            _add(self._found, phrase.dated)
        elif phrase.opener and begins_sentence(text, start):
            self._opened.append((match[0].split(maxsplit=1)[1], phrase.name))
        elif phrase.command and begins_sentence(text, start):
            self._commanded.append((phrase.text.split(maxsplit=1)[1], phrase))
        elif phrase.led:
            if begins_sentence(text, start) or follows_dash(text, start):
                self._led.append(phrase)
            else:
                _add(self._found, phrase.led)
        elif not phrase.name or (phrase.month and is_before_number(text, end)):
            pass
        elif phrase.function_word:
            self._acronyms.append((phrase.name, start))
        elif not phrase.sure and self._has_capital_by_place(match, phrase):
            self._waiting.append(phrase.name)
        else:
            name, shown = phrase.name, phrase.text
            if text[start - 1 : start] in _SIGNS and (sign := self._sign_before(match, phrase)):
                shown = sign + shown
                name = normalize_name(shown)
            _count(self._found, name, shown)

    def _parts(self, match: re.Match[str], pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """Yield what stands around an ``&``: two names, if both have several words or one is known by itself, or one.

        ``Ada Lane & Ben Hale`` are two, ``Marks & Spencer``, ``GitHub Trust & Safety``, ``A GmbH & Co. KG`` one each.
        """
        before, _, after = match[0].partition(" & ")
        sides = {normalize_name(before), normalize_name(after)}
        if not after.startswith("Co.") and (
            (" " in before and " " in after)
            or (len(sides) > 1 and not sides.isdisjoint(self._found))
            or any(map(patterns.ACRONYM.fullmatch, (before, after)))
        ):
            middle = match.start() + len(before) + 1
            yield from pattern.finditer(self._text, match.start(), middle)
            yield from pattern.finditer(self._text, middle, match.end())
        else:
            yield match

    def _sign_before(self, match: re.Match[str], phrase: Phrase) -> str:
        """Return the dot or the number that a phrase begins with: .NET, 5-HT2A; empty if there is none."""
        text, start = self._text, match.start()
        if not match[0].startswith(phrase.text):
            return ""
        if self._has_dots and _DOT.match(text, start - 1):
            return "."
        number = patterns.PREFIX.search(text, max(0, start - 5), start) if text[start - 1 : start] == "-" else None
        if number is None or (begins_sentence(text, number.start()) and phrase.text.isalpha()):
            return ""  # 1-Introduction numbers an item
        return number[0]

    def _has_capital_by_place(self, match: re.Match[str], phrase: Phrase) -> bool:
        """Return whether a word (a German adjective, too) may only have its capital since a sentence or link begins."""
        text = self._text
        start, end = match.span()
        if " " in phrase.text and not _GOES_ON.match(text, end):
            return False  # Bayerische Staatsoper, as an item of a list
        if self._language == "turkish" and _ENDING.match(text, end):
            return False
        if self._unspaced and (is_unspaced(text[start - 1 : start]) or is_unspaced(text[end : end + 1])):
            return False
        return begins_sentence(text, start) or begins_link(text, start, end) or begins_title(match[0], text, end)

    def _decide_opened(self) -> None:
        """Add what is behind a word that opens a sentence, unless that word is part of a name found elsewhere."""
        for rest, whole in self._opened:
            behind = phrase_of(rest, self._language)
            if whole in self._found:
                self._found[whole].count += 1
            elif behind is not None and behind.led:
                _add(self._found, behind.led)
            elif behind is not None and not behind.function_word and not behind.name.isdecimal():
                _count(self._found, behind.name, behind.text)

    def _decide_commanded(self) -> None:
        """Add what is behind a verb that begins a sentence, with the verb unless the rest is a name for itself."""
        for rest, phrase in self._commanded:
            name = normalize_name(rest)
            if names_nothing(rest, name) or name.isdecimal():
                continue  # See Figure 3, Select 2
            if phrase.name not in self._found and name and (name in self._found or _HUMP.search(rest) or is_key(rest)):
                _count(self._found, name, rest)
            else:
                _count(self._found, phrase.name, phrase.text)


def _add_acronyms(text: str, places: list[tuple[str, int]], found: dict[str, Found]) -> None:
    """Add function words in capitals, with all occurrences, if the text anywhere shows that they are names."""
    said = {name for name, place in places if name in found or is_acronym(text, place, place + len(name))}
    for name, _ in places:
        if name in said:
            found.setdefault(name, Found(name.upper(), 0)).count += 1


def _add(found: dict[str, Found], phrase: str) -> None:
    if (name := normalize_name(phrase)) and not is_literal(name) and any(map(str.isalnum, name)):
        _count(found, name, phrase)


def _count(found: dict[str, Found], name: str, text: str) -> None:
    known = found.get(name)
    if known is None:
        found[name] = Found(text)
    else:
        known.count += 1
