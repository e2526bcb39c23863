"""The entries of references: commands, functions, options and settings, each below a heading that is its name.

What such an entry says seldom repeats the name: below "npm-prune", "Remove extraneous packages". The name is what is
asked for by "How do I remove extraneous packages?" and "Which command …?".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from core.rag.analysis import analyze, query_terms
from core.rag.answering.extracts.items import SHORT
from core.rag.answering.extracts.record_rows import MESSAGE
from core.rag.answering.extracts.table_rows import is_row
from core.rag.answering.markers import is_in_block, replace_markers
from core.rag.headings import without_purpose
from libs.regexes import regex

if TYPE_CHECKING:
    from core.rag.answering.extracts.called import Source
    from core.rag.answering.extracts.code_spans import Span
    from core.rag.answering.extracts.sentence import Sentence

#: An option; a name with a sign or a capital within; a call; words that are all small, as of a command; and what stands
#: for arguments behind these.
_OPTION = r"-{1,2}[A-Za-z][\w-]*(?:[ =,|/].{1,60})?"
_SIGNED = (
    r"(?=[\w$@.:#/>-]*?(?:[@#._/:>-]|[a-z][A-Z]))[a-z_$@.:#][\w$]*(?:(?:[./:-]|::|->)[\w$]+)*"
    r"|[A-Z][\w$]*(?:(?:\.|::|->)[\w$]+)+"
)
_CALL = r"(?:new )?[A-Za-z_$][\w$.:]*\(.{0,200}\)"
_WORDS = r"[a-z][a-z0-9-]*(?: [a-z][a-z0-9:-]*){0,3}"
_ARGUMENTS = r"(?: [A-Z][A-Z_]*(?:\.\.\.|…)?)*(?: (?:[<\[{…]|\.\.\.).{0,300})?"
_OTHERS = (
    r"[A-Z][a-z]+-[A-Z]\w+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|</?[A-Za-z][\w.-]*[^<>]{0,100}>"
    r"|(?:GET|HEAD|POST|PUT|PATCH|DELETE) /\S*"
)
_NAME = regex(rf"~*(?:{_OPTION}|{_CALL}|(?:{_SIGNED}|{_OTHERS}|{_WORDS}){_ARGUMENTS})~*")
#: Behind the name of a page of the manual: "cargo-clean(1)".
_SECTION_OF_MANUAL = regex(r"\(\d\w?\)\Z")
#: Below this heading, manuals have their names and purposes.
_IS_NAME = regex(r"\W{0,3}name\W{0,3}", re.IGNORECASE)
_SAYS_PURPOSE = regex(r"\s(?:[-–—]|--)\s")
_IS_OPTION = regex(r"~*-")
_AN_OPTION = regex(r"(?<!\w)-{1,2}[A-Za-z][\w-]*")
_PLAIN = regex(_WORDS)
_IS_VERB = regex(r"[a-z]+")
_IS_WORD = regex(r"[a-z][a-z0-9-]*(?: .*)?")
#: Parts of an entry, and lists of entries, whose headings name none; of these, what says what it does.
_TELLS = (
    r"name|description|synopsis|overview|summary|beschreibung|descripción|descrição|descrizione|описание|[说說説]明"
)
_PARTS = regex(
    rf"\W*(?:{_TELLS}|(?:sub)?commands?|(?:(?:global|command|available|common|general|other|parent) )?(?:options?"
    r"|flags?|arguments?|parameters?|args|params|switch(?:es)?)|methods?|functions?|usage|syntax|examples?|returns?"
    r"|return (?:values?|type)|raises|throws|notes?|details|values?|default|since|aliases|see also|signature|properties"
    r"|remarks?|complexity|history|exit (?:codes?|status)|environment(?: variables)?|tl;dr"
    r"|befehle?|optionen|parameter|beispiele?|verwendung|rückgabewerte?|hinweise?"
    r"|opciones|argumentos|parámetros|ejemplos?|uso|exemples?|paramètres|utilisation"
    r"|opções|parâmetros|exemplos?|opzioni|argomenti|parametri|esempi"
    r"|опции|параметры|аргументы|примеры?|использование|команды"
    r"|命令|选项|選項|参数|參數|示例|例子|用法|返回值?|オプション|引数|例|使い方|戻り値|コマンド)\W*",
    re.IGNORECASE,
)
_TELLING = regex(rf"\W*(?:{_TELLS})\W*", re.IGNORECASE)
#: Questions whose answer is the name of an entry that seldom calls itself what they say it is,
_KIND = (
    r"\b(?:which|what) (?:(?:sub)?commands?|cmdlets?|functions?|sys(?:tem )?calls?|options?|flags?"
    r"|switch(?:es)?|helpers?|hooks?|decorators?|macros?|endpoints?|directives?)\b(?! (?:of|are|is there|do|does)\b)"
)
_ASKS_FOR_KIND = regex(_KIND, re.IGNORECASE)
#: and all such questions.
_ASKS_FOR_NAME = regex(
    rf"{_KIND}"
    # Others have methods, rules and properties, too: "What methods were used?"
    r"|\b(?:which|what) (?:methods?|settings?|parameters?|arguments?|operators?|keywords?|propert(?:y|ies)|attributes?"
    r"|calls?|utilit(?:y|ies)|programs?|tools?|overlays?|backends?|plugins?|modules?|extensions?"
    r"|components?|routes?|variables?|rules?|tags?) (?!(?:is|was|has|does|as|this)\b)(?=\w+s\b)"
    r"|\bwelche[rsmn]? (?:befehle?|funktion(?:en)?|methoden?|option(?:en)?|schalter|parameter|einstellung(?:en)?)\b"
    r"|\bquel(?:le)?s? (?:est la |est le )?(?:commandes?|fonctions?|méthodes?|options?|paramètres?|arguments?)\b"
    r"|\b(?:qué|cuál|que|qual|quale) (?:es el |es la |é o |é a )?(?:comandos?|funci(?:ón|ones)|métodos?|opci(?:ón|ones)"
    r"|parámetros?|função|opção|parâmetro|funzione|metodo|opzione|parametro)\b"
    r"|\bкак(?:ая|ой|ую|им) (?:команд\w+|функци\w+|метод\w*|опци\w+|параметр\w*)"
    r"|(?:哪[个個条條一]*|什[么麼])(?:命令|函[数數]|方法|[选選][项項]|[参參][数數])"
    r"|(?:どの|何の)(?:コマンド|関数|メソッド|オプション|引数)",
    re.IGNORECASE,
)
#: What says what something does without naming it: "Returns the wheel.", "This command turns it."
_SAYS_WHAT = regex(
    r"\W*(?:This (?:command|function|method|option|flag|tool|program|module|helper|class|setting|hook|subcommand)\b"
    r"|(?!(?:This|Its|Thus|Unless|Always|Besides|Perhaps|Yes|As|Us)\b)[A-Z][a-z]*s\b(?!['’]))"
)
_BEGINS_WITH_IT = regex(r"[^`\n]{0,12}`(?:-{1,2}\w[^`\n]*|\w[\w-]* [^`\n]+)`")
_IN_WORDS = regex(r"\w")
_LONGEST_NAME = 80


class Entries:
    """The entries that sentences of passages are part of."""

    def __init__(
        self, question: str, sources: Sequence[Source], sentences: Sequence[Sentence], *, of_way: bool
    ) -> None:
        """Find the sentences that say what an entry does: the first below its name.

        Args:
            question: The question.
            sources: The passages.
            sentences: Their sentences, in the order of their texts.
            of_way: Whether the question asks for a way to do something.
        """
        self._asked_for = asks_for_entry(question)
        self._verbs = set(query_terms(question)[:1])
        self._sources = sources
        self._openings: set[tuple[int, Span]] = set()
        self._purposes: set[tuple[int, Span]] = set()
        self._answers = self._asked_for or of_way
        seen: set[tuple[int, int | None]] = set()
        for one in sentences:
            source, start = sources[one.passage], one.place.start
            if not _is_prose(source, start) or _is_row(source, start):
                continue
            heading = source.headings.end_above(start)
            if (one.passage, heading) in seen:
                continue
            seen.add((one.passage, heading))
            if heading is None and source.passage.hit.start_char > 0:
                continue
            above = source.headings.above(start)
            if above and _IS_NAME.fullmatch(above[0]) is not None and _says_purpose(source, one.text):
                self._purposes.add((one.passage, one.place))
            if not above or is_entry(above[0]) or _TELLING.fullmatch(above[0]):
                self._openings.add((one.passage, one.place))

    def name(self, one: Sentence) -> str:
        """Return the name of the entry that a sentence is part of, if it does not say that itself; else nothing."""
        source, start = self._sources[one.passage], one.place.start
        hit = source.passage.hit
        if not _is_prose(source, start):
            return ""
        says_what = _SAYS_WHAT.match(one.text) is not None
        opens = (one.passage, one.place) in self._openings
        if not (opens or says_what or self._asked_for or len(one.text) <= SHORT or _is_row(source, start)):
            return ""
        term = source.headings.term(start)
        above, title = [term] * bool(term) + source.headings.above(start), source.headings.title()
        if hit.title.strip() and not title:
            is_option = above != [] and _IS_OPTION.match(_bare(above[0])) is not None
            if is_option or self._asked_for or (opens and (says_what or self._answers)):
                title = [PurePosixPath(hit.path).stem]
        name = entry_of([*above, *title])
        if not name or _mentions(one.text, name):
            return ""
        # Words that are all small may be any heading: of a short sentence below it, that says little.
        is_told = opens or says_what or self._answers or _is_row(source, start)
        return name if is_told or _PLAIN.fullmatch(name) is None else ""

    def is_answer(self, one: Sentence, name: str) -> bool:
        """Return whether a sentence says what an entry does (``name``), and the question asks for one that does it.

        So does one that begins with a command or an option, as rows of tables do: "`--port N` | Port to listen on".
        Of a file without headings whose name is one word, and may be any, only what begins as the question does.
        """
        if self._asked_for and _BEGINS_WITH_IT.match(one.text) is not None:
            return True
        if self._answers and self.says_purpose(one):
            return True
        if not self._answers or not name or (one.passage, one.place) not in self._openings:
            return False
        hit = self._sources[one.passage].passage.hit
        is_file = not hit.heading and name == PurePosixPath(hit.path).stem and _IS_WORD.fullmatch(name) is not None
        return not is_file or self._asked_for or self._begins_so(one)

    def says_purpose(self, one: Sentence) -> bool:
        """Return whether a sentence is the name and the purpose of a page of a manual: "chown - change ownership"."""
        return (one.passage, one.place) in self._purposes

    def _begins_so(self, one: Sentence) -> bool:
        begins = one.text.split(maxsplit=1)[:1]
        return not self._verbs.isdisjoint(analyze("".join(begins), self._sources[one.passage].language))


def _says_purpose(source: Source, text: str) -> bool:
    """Return whether a sentence of a page of a manual has names and, behind a dash, what they are for."""
    title = without_purpose(source.passage.hit.title)
    return _SECTION_OF_MANUAL.search(title) is not None and _SAYS_PURPOSE.search(text) is not None


def asks_for_entry(question: str) -> bool:
    """Return whether the answer is the name of a command, a function or the like.

    Example:
        >>> asks_for_entry("Which command removes the cache?"), asks_for_entry("Which mill is the oldest?")
        (True, False)
    """
    return _ASKS_FOR_NAME.search(question) is not None


def without_asked_kind(question: str) -> str:
    """Return a question without "which command" and the like, which such a one seldom calls itself."""
    rest = _ASKS_FOR_KIND.sub(" ", question)
    return rest if _IN_WORDS.search(rest) else question


def is_entry(name: str) -> bool:
    """Return whether a heading is the name of something that documentation describes below it.

    Example:
        >>> [is_entry(name) for name in ("store prune", "--port, -p", "_.chunk(array)", "Getting started", "options")]
        [True, True, True, False, False]
    """
    return entry_of([name]) != ""


def entry_of(above: Sequence[str]) -> str:
    """Return the name of the entry that headings lead to, with that of the command that has it; empty for none.

    Args:
        above: The headings above a place, innermost first; the title last.

    Example:
        >>> entry_of(["Options", "prune", "Commands", "pnpm store"]), entry_of(["--prod, -P", "Options", "pnpm add"])
        ('pnpm store prune', 'pnpm add --prod, -P')
    """
    named = ""
    for name in dict.fromkeys(map(_bare, above)):
        if _PARTS.fullmatch(name) is not None:
            continue
        if _NAME.fullmatch(name) is None or (
            named and _IS_WORD.fullmatch(name) is None and not _IS_OPTION.match(named)
        ):
            break
        named = f"{_short(name)} {named}" if named and not named.startswith(name) else named or _short(name)
        if not (_IS_OPTION.match(named) or _IS_WORD.fullmatch(name)):
            break
    return named


def entry_with(name: str, above: Sequence[str]) -> str:
    """Return the name of the entry whose part a heading is ("Examples"), by those above it; empty if it is none."""
    return entry_of(above) if _PARTS.fullmatch(_bare(name)) is not None else ""


def _bare(name: str) -> str:
    """Return a heading without its markup, and without what would look like a citation."""
    plain = unescape(name.replace("`", "").replace("\\", ""))
    plain = replace_markers(plain, lambda marker: f"({marker[0][1:-1]})").strip()
    return _SECTION_OF_MANUAL.sub("", plain).strip()


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name.partition('(')[0][:_LONGEST_NAME]}(…)"


def _is_prose(source: Source, start: int) -> bool:
    """Return whether a sentence is no code, and no message of a conversation, which may be called "help"."""
    is_code = source.passage.hit.is_code or is_in_block(source.text, start)
    return not is_code and MESSAGE.match(source.text, start) is None


def _is_row(source: Source, start: int) -> bool:
    return is_row(source.text, start, source.passage.hit.table_header)


def _mentions(text: str, name: str) -> bool:
    """Return whether a text names an entry itself, or what its name ends with, as code."""
    called = name.partition("(")[0]
    if options := _AN_OPTION.findall(called):
        return any(option in _AN_OPTION.findall(text) for option in options)
    if _IS_VERB.fullmatch(called) is None and called in text:
        return True
    # "reset" is no name in "Resets the mill", nor in "after a reset".
    last = re.escape(called.split()[-1])
    as_name = rf"`{last}|\b{last}\(|\b{last} (?:command|function|method|helper)\b"
    return re.search(as_name, text) is not None or text.startswith(f"{called} ")
