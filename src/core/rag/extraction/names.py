"""Finds names in a text by rules: capitalised phrases, years, acronyms, quoted terms, code terms and headings.

Rules rather than a tagger: they cost microseconds, need no download, and treat every language alike. What they miss in
one text (names in lower case, scripts without capitals) is found where it is the title of a document; see
:mod:`core.rag.extraction.matching`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, NamedTuple

from core.rag.analysis.language import detect_language
from core.rag.analysis.stopwords import stop_words
from core.rag.extraction import patterns
from core.rag.extraction.acronyms import is_acronym, is_behind_article, leads_name, may_be_acronym
from core.rag.extraction.code_blocks import block_before, is_data
from core.rag.extraction.dates import CALENDAR, is_date, is_in_date, named_by_date
from core.rag.extraction.openers import begins_title, is_key, may_command, may_lead_name, opens_sentence
from core.rag.extraction.unnamed import (
    heads_no_thing,
    is_description,
    is_literal,
    is_usual_heading,
    names_nothing,
)
from core.rag.extraction.words import is_unspaced, normalize_name
from core.rag.extraction.wrapping import unwrapped
from core.rag.headings import last_heading

#: Maximum number of names of a chunk that are not titles; the first ones are kept.
MAX_NAMES: Final = 48
#: A longer phrase is a sentence.
MAX_WORDS: Final = 8
_MAX_CODE_CHARS: Final = 60

#: Small words that the lists of function words lack.
_SMALL_WORDS: Final = "mr mrs ms dr i'm i've i'll i'd i’m i’ve i’ll i’d"
#: Function words that are nouns, too, and with a capital begin names: Stati Uniti, Stato Pontificio.
_NOUNS: Final = {"italian": frozenset({"stato", "stati"})}
#: Function words of languages with their own script, which are not words of any other language.
_OTHER_SCRIPTS: Final = stop_words("russian") | stop_words("greek")
#: Nouns that are numbered in Roman numerals, so that an I after them is the number one.
_COUNTED: Final = frozenset("war phase stage type tier class part act book volume level".split())  # noqa: SIM905
_BEFORE_SENTENCE: Final = frozenset(".!?:;…•|#>\n\r\t。")
_SKIPPED: Final = frozenset(" \"'“”„«»‘’()[]*_-\u00a0")
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_YEAR: Final = re.compile(r"1[0-9]{3}|20[0-9]{2}")
_ACRONYM: Final = re.compile(r"(?:[A-Z][A-Z0-9&-]{1,7}|(?:[A-Z]\.){2,})")
_CODE: Final = re.compile(
    r"\w+_\w[\w]*|\w+(?:\.\w+)*\(.*\)|[a-z]+[A-Z]\w*"
    # Commands of PowerShell: Copy-Item is not CopyItem, a method.
    r"|(?:Add|Clear|Convert(?:From|To)?|Copy|Enter|Exit|Export|Find|Format|Get|Import|Invoke|Join|Measure|Move|New|Out|Pop"
    r"|Push|Read|Receive|Register|Remove|Rename|Restart|Resume|Save|Select|Send|Set|Show|Split|Start|Stop|Suspend|Test"
    r"|Unregister|Update|Use|Wait|Where|Write)-[A-Z]\w+"
)
#: The heading of source code: what is defined there, behind words that stand nowhere else, or with a name as only code
#: has it behind those that do (``class Client``, but not ``class hours``).
_DEFINITION: Final = re.compile(
    r"(?:def|defp|defmodule|fn|func(?: \(.*\))?|fun|mod|struct|enum|impl(?: .* for)?|typedef|typealias) ([\w.:$]+)"
    r"|(?:class|interface|trait|object|type|record|union|namespace|module|protocol|extension|actor|const|let|var|"
    r"method|function|constructor|macro|delegate) ([\w.:$]*[A-Z_][\w.:$]*)"
)
#: The same for what is called: only where the text has it with what it is called with (``function grind``, but not
#: ``function keys``).
_CALLED: Final = re.compile(r"(?:function|method|constructor|macro|delegate) ([\w.:$]+)")
#: What is said, not called so, in a script in which a sentence has no spaces that could be counted.
_SPEECH: Final = re.compile("[。！？，；…]")
_MAX_UNSPACED_CHARS: Final = 30
_ENDS_SPEECH: Final = frozenset(".,;:?-–—…")
#: In reStructuredText, where a link leads, after what it says: `Jinja <https://…>`_, :doc:`here <page>`.
_TARGET: Final = re.compile(r"\s*<[^<>]*>$")
#: A name as only products have it: PowerShell, GitHub.
_HUMP: Final = re.compile(r"[^\W\d_][a-z]+[A-Z]")
#: The dot that a name begins with: .NET, .NET Framework.
_DOT: Final = re.compile(r"(?<![^\s(\[\"'/])\.(?=[A-Z])")
_MASK: Final = "\x00"


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
    whole_text = text
    text = _explicit(text, found)
    if "\n" in text:
        text = unwrapped(text)
    language = detect_language(text.split())
    unspaced = is_unspaced(text)
    pattern = patterns.names(language, ascii_only=text.isascii(), unspaced=unspaced)
    waiting: list[str] = []  # single words that begin a sentence: names only if they are names elsewhere
    opened: list[tuple[str, str]] = []  # phrases behind a word that opens the sentence, and with it
    commanded: list[tuple[str, _Phrase]] = []  # behind a verb that begins a sentence, and with it
    led: list[_Phrase] = []  # behind an article that begins a sentence
    acronyms: list[tuple[str, int]] = []  # that spell a function word, and where: names only if the text says so
    has_dots = _DOT.search(text) is not None
    if not text.isupper():
        for match in pattern.finditer(text):
            phrase = _phrase(match[0], language)
            if phrase is None:
                continue
            if phrase.dated and not is_in_date(text, *match.span()):
                _add(found, phrase.dated)
                continue
            if phrase.opener and _begins_sentence(text, match.start()):
                opened.append((match[0].split(maxsplit=1)[1], phrase.name))
                continue
            if phrase.command and _begins_sentence(text, match.start()):
                commanded.append((phrase.text.split(maxsplit=1)[1], phrase))
                continue
            if phrase.led:
                if _begins_sentence(text, match.start()):
                    led.append(phrase)
                else:
                    _add(found, phrase.led)
                continue
            if not phrase.name:
                continue
            if not phrase.sure:
                if phrase.function_word:
                    acronyms.append((phrase.name, match.start()))
                    continue
                start, end = match.span()
                among_unspaced = unspaced and (is_unspaced(text[start - 1 : start]) or is_unspaced(text[end : end + 1]))
                if not among_unspaced and (
                    _begins_sentence(text, start) or _begins_link(text, start, end) or begins_title(match[0], text, end)
                ):
                    waiting.append(phrase.name)
                    continue
            dotted = has_dots and _DOT.match(text, match.start() - 1) and match[0].startswith(phrase.text)
            _count(found, phrase.name, f".{phrase.text}" if dotted else phrase.text)
        for rest, whole in opened:
            behind = _phrase(rest, language)
            if whole in found:
                found[whole].count += 1
            elif behind is not None and behind.led:
                _add(found, behind.led)
            elif behind is not None and not behind.function_word and not behind.name.isdecimal():
                _count(found, behind.name, behind.text)
        for rest, phrase in commanded:
            name = normalize_name(rest)
            if names_nothing(rest, name) or name.isdecimal():
                continue  # See Figure 3, Select 2
            if phrase.name not in found and name and (name in found or _HUMP.search(rest) or is_key(rest)):
                _count(found, name, rest)
            else:
                _count(found, phrase.name, phrase.text)
        for phrase in led:
            if (whole := normalize_name(phrase.led)) in found:
                found[whole].count += 1
            elif phrase.name:
                _count(found, phrase.name, phrase.text)
        if acronyms:
            _add_acronyms(text, acronyms, found)
        for name in waiting:
            if name in found:
                found[name].count += 1
    for year in patterns.YEAR.findall(text):
        _add(found, year)
    last = last_heading(heading)
    if defined := _DEFINITION.fullmatch(last):
        last = defined[1] or defined[2]
    elif (called := _CALLED.fullmatch(last)) and re.search(
        rf"\b{re.escape(called[1].rpartition('.')[2])}\(", whole_text
    ):
        last = called[1]
    if last and last.count(" ") < MAX_WORDS and normalize_name(last) not in _stop_words(language):
        name = normalize_name(last)
        if name and name not in found and not heads_no_thing(last, name):
            found[name] = Found(last.strip())
    return found if len(found) <= MAX_NAMES else dict(list(found.items())[:MAX_NAMES])


def type_of(name: str) -> str:
    """Return the type of a name by its spelling: ``year``, ``acronym``, ``code``, ``name`` (capital) or ``term``."""
    if name[:1].isupper() and name.replace(" ", "").isalpha() and not name.isupper():
        return "name"  # the usual case
    if _YEAR.fullmatch(name):
        return "year"
    name = name.removeprefix(".")  # .NET
    if _CODE.fullmatch(name):
        return "code"
    if _ACRONYM.fullmatch(name):
        return "acronym"
    return "name" if any(map(str.isupper, name)) else "term"


def _explicit(text: str, found: dict[str, Found]) -> str:
    """Add names that are marked as terms; return the text with these blanked out, of the same length."""

    def code(match: re.Match[str]) -> str:
        inside = match[1] or match[2]
        if inside is not None:
            if inside[0].isspace() != inside[-1].isspace():
                return match[0]  # `so' and `on': these are quotation marks
            start, end = match.span()
            if match[2] and (text[start - 1 : start] == ":" or text[end : end + 1] == "_"):
                inside = _TARGET.sub("", inside).lstrip("~.!")
            words = inside.split()
            term = " ".join(words)
            if 1 < len(term) <= _MAX_CODE_CHARS and len(words) <= MAX_WORDS and any(map(str.isalpha, term)):
                _add(found, term)
        return _MASK * len(match[0])

    def usual(match: re.Match[str]) -> str:
        # See Also is no name, nor are Attributes and Elements, of which the words would be two.
        return _MASK * len(match[0]) if is_usual_heading(normalize_name(match[1])) else match[0]

    def quoted(match: re.Match[str]) -> str:
        term = match[1] or match[2]
        directed = match[1] is not None
        if _MASK in term:
            return match[0]
        few = term.count(" ") < (4 if directed else 6)
        if is_unspaced(term) and (len(term) > _MAX_UNSPACED_CHARS or _SPEECH.search(term)):
            return match[0]
        # Between plain marks may stand what is between two quotations: a term among them begins with a capital.
        if not few or not (term[0].isupper() or directed) or term[-1] in _ENDS_SPEECH:
            return match[0]
        if term[-1] == "!" and any(word[0].islower() for word in term.split()):
            return match[0]  # “Very strange!”, but not “Mamma Mia!”
        _add(found, term)
        return _MASK * len(match[0])

    if is_data(text):
        return _MASK * len(text)
    if "`" in text:
        if begun := block_before(text):
            text = _MASK * begun + text[begun:]
        text = patterns.CODE.sub(code, text)
    if "#" in text:
        text = patterns.HEADING.sub(usual, text)
    if "</" in text or "/>" in text:
        text = patterns.COMPONENTS.sub(lambda match: _MASK * len(match[0]), text)
    if text.count("$") > 1:
        text = patterns.FORMULA.sub(lambda match: _MASK * len(match[0]), text)
    if "://" in text or "](" in text:
        text = patterns.ADDRESSES.sub(lambda match: _MASK * len(match[0]), text)
    if "_" in text or "()" in text or patterns.HUMP.search(text):

        def identifier(match: re.Match[str]) -> str:
            _add(found, match[0])
            return _MASK * len(match[0])

        if max(map(len, text.split()), default=0) >= patterns.SHORTEST_ENCODED:  # a third of the time of looking for it
            text = patterns.ENCODED.sub(lambda match: _MASK * len(match[0]), text)
        text = (patterns.IDENTIFIER_UNSPACED if is_unspaced(text) else patterns.IDENTIFIER).sub(identifier, text)
    if '"' in text or not text.isascii() or "[[" in text:
        text = patterns.QUOTED.sub(quoted, text)
        if not text.isascii():
            text = patterns.QUOTED_IN_EAST_ASIA.sub(quoted, text)
    return text


class _Phrase(NamedTuple):
    """A phrase with capitals, or a year: as it is spelt, normalised, whether it is a name wherever it stands, whether
    it is a function word in capitals, which is a name only where the text says so, and whether its first word is none
    of the name where it begins a sentence, or may be a command there. Behind an article that is part of the name unless
    a sentence begins there, it is ``led`` by that; the rest may be no name at all, and empty. It is ``dated`` with a
    month or day at one end that belongs to the name unless a date is there.
    """

    text: str
    name: str
    sure: bool
    function_word: bool = False
    opener: bool = False
    command: bool = False
    led: str = ""
    dated: str = ""


@lru_cache(maxsize=100_000)
def _phrase(found: str, language: str) -> _Phrase | None:
    """A phrase without function words before and a possessive behind it; ``None`` where no name is left."""
    text = _POSSESSIVE.sub("", found) if found[-1] in "'’s" else found
    words = text.split()
    if len(words) > 2 and words[-1].isdecimal() and words[-2].lower() in CALENDAR:
        text = " ".join(words := words[:-2])  # in Paris May 12
    if len(words) > 1 and is_date(words):
        return None
    stop = _stop_words(language)
    if language == "german" and is_description(words[1:] if words[0].lower() in stop else words):
        return _phrase(words[-1], language)  # of SVG-Dateien, that is
    phrase = _without_small_words(text, words, language)
    if len(words) > 1 and (dated := named_by_date(words, stop)):
        return (phrase or _Phrase("", "", sure=False))._replace(dated=dated)
    return phrase


def _without_small_words(text: str, words: list[str], language: str) -> _Phrase | None:
    stop = _stop_words(language)
    led = ""  # with the article before it
    if (
        1 < len(words) <= MAX_WORDS
        and not (_is_small(words[0], stop) or words[-1].lower() in stop)
        and not (words[1] == "the" and opens_sentence(words[0], language))
    ):
        text = " ".join(words)  # most that are more than a word
        name = normalize_name(text)
        if not name or names_nothing(text, name):
            return None
        first = words[0]
        return _Phrase(text, name, sure=True, opener=opens_sentence(first, language), command=may_command(first))
    if len(words) > 1:
        kept = words[1:] if words[1] == "the" and opens_sentence(words[0], language) else words[:]
        while kept and _is_small(kept[0], stop) and not leads_name(kept):
            if len(kept) > 1 and kept[1][0].isupper() and may_lead_name(kept[0], language):
                if len(kept) < len(words):
                    break  # In Den Haag
                led = " ".join(kept)
            del kept[0]
        if not kept and is_behind_article(words[-2], words[-1]) and may_be_acronym(words[-1]):
            return _Phrase(words[-1], words[-1].lower(), sure=True)
        while kept and kept[-1].lower() in stop and not _ACRONYM.fullmatch(kept[-1]) and not _is_first(kept):
            del kept[-1]
        if not kept or len(kept) > MAX_WORDS:
            return None
        if len(kept) == 1 and (len(kept[0].rstrip(".")) < 2 or kept[0][0].isdigit() or kept[0].endswith(".")):
            return None
        text = " ".join(kept)
        sure = len(kept) > 1 or kept[0] != words[0]
    elif len(text) < 2:
        return None
    elif text.lower() in stop:
        return _Phrase(text, text.lower(), sure=False, function_word=True) if may_be_acronym(text) else None
    else:
        sure = False
    sure = sure or _is_distinct(text)
    if language == "german" and " " not in text and not _is_distinct(text):
        return _Phrase("", "", sure=False, led=led) if led else None  # every noun has a capital
    name = normalize_name(text)
    return _Phrase(text, name, sure, led=led) if name and not names_nothing(text, name) else None


def _is_small(word: str, stop: frozenset[str]) -> bool:
    """Whether the first word of a phrase is a function word or form of address, and no initial: ``T. S. Eliot``."""
    return word.lower().rstrip(".") in stop and not (word.endswith(".") and len(word) == 2)


def _is_first(words: Sequence[str]) -> bool:
    """Return whether the last word is the number one: ``World War I``."""
    return words[-1] == "I" and len(words) > 2 and words[-2].lower() in _COUNTED


def _is_distinct(word: str) -> bool:
    """Return whether a single word is always a name: it has a digit, or a capital that is not its first letter."""
    return (not word.isalpha() and any(map(str.isdigit, word))) or any(map(str.isupper, word[1:]))


def _begins_sentence(text: str, start: int) -> bool:
    place = start - 1
    while place >= 0 and text[place] in _SKIPPED:
        place -= 1
    return place < 0 or text[place] in _BEFORE_SENTENCE


def _begins_link(text: str, start: int, end: int) -> bool:
    """Return whether more words follow in the text of a Markdown link: ``[Creating a Module](…)``."""
    return start > 0 and text[start - 1] == "[" and text[end : end + 1] == " "


def _add_acronyms(text: str, places: list[tuple[str, int]], found: dict[str, Found]) -> None:
    """Add function words in capitals, with all occurrences, if the text anywhere shows that they are names."""
    said = {name for name, place in places if name in found or is_acronym(text, place, place + len(name))}
    for name, _ in places:
        if name in said:
            found.setdefault(name, Found(name.upper(), 0)).count += 1


def _add(found: dict[str, Found], phrase: str) -> None:
    if (name := normalize_name(phrase)) and not is_literal(name):
        _count(found, name, phrase)


def _count(found: dict[str, Found], name: str, text: str) -> None:
    known = found.get(name)
    if known is None:
        found[name] = Found(text)
    else:
        known.count += 1


@cache
def _stop_words(language: str) -> frozenset[str]:
    native = stop_words(language) - _NOUNS.get(language, frozenset[str]())
    return stop_words("english") | native | _OTHER_SCRIPTS | set(_SMALL_WORDS.split()) | CALENDAR
