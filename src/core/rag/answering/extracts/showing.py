"""How a sentence of a passage is shown in an answer: in one line, without markup."""

from __future__ import annotations

import re
from html import unescape

from core.rag.answering.markers import is_in_block, replace_markers
from core.rag.answering.types import Passage
from core.rag.headings import last_heading
from core.rag.indexing.splitting.sentences import without_quotation_marks
from core.rag.retrieval.hits import Hit
from libs.regexes import regex

LONGEST_EXTRACT = 600
#: So many lines of code are shown as such; more of them are put into one line.
_FEW_LINES = 5
#: What stands for the code of another file: ``{{#include ../listings/main.rs:here}}`` of mdBook, ``{* src/main.py *}``.
INCLUDES = regex(r"\s*(?:\{\{#[a-z_]+\s[^{}\n]{1,500}\}\}|\{([*!])[^{}\n]{1,500}\1\})\s*")
#: The same behind a sentence: "as in: {* src/main.py *}".
_INCLUDED = regex(r"\s*\{([*!])[ .\w/][^{}\n]{1,500}\1\}")
#: Where a command goes on in the next line.
_GOES_ON = regex(r"[ \t]*\\\n\s*")
#: Tags of HTML, known by their names or attributes, and comments: ``Vec<T>``, ``<path>`` and a part of a name or path,
#: as in ``<chapter>.<section>.<number>``, are none.
_ATTRIBUTE = r"\s+[A-Za-z_:][\w:.-]*=(?:\"[^\"]*\"|'[^']*')"
_TAG = (
    r"<!--.*?(?:-->|\Z)|(?!(?<=[./])<\w+>[./])</?(?:abbr|aside|b|blockquote|br|button|center|code|d[dlt]|del|details|div|em|figcaption|figure|h[1-6r]|i|img"
    r"|ins|kbd|li|mark|[ou]l|p|picture|pre|section|small|span|strong|su[bp]|summary|table|tbody|t[dhr]|thead|tt)\s*/?>"
    rf"|<[A-Za-z][\w-]*(?:{_ATTRIBUTE})+(?:\s+[A-Za-z][\w-]*)*\s*/?>"
    # What closes anything, and components of MDX: a placeholder in capitals, or a type behind its name, is none.
    r"|</[A-Za-z][\w.-]*\s*>|(?m:^)[ \t]*<[A-Z][a-z][\w.]*[ \t]*/?>[ \t]*(?=\n|\Z)"
)
#: What a generator of sites fills in, as Liquid, Nunjucks and Jinja have it: part of a target, or of what is read.
_FILLED_IN = r"\{[%{][^{}\n]{0,300}[%}]\}"
#: Links (group 2: their words), images and tags of Markdown; code, which may look like them, comes as it is.
_TARGET = rf"\((?:<[^<>\n]*>|(?:{_FILLED_IN}|\{{(?![%{{])|[^\s(){{]|\([^\s()]*\))*)(?:\s+(?:\"[^\"]*\"|'[^']*'))?\)"
_WORDS = r"(?:\\.|[^\[\]\\]|\[[^\[\]]*\](?:\([^()\s]*\))?){0,500}"
#: A link to a note or to a place in one (group 4: its name, 5: other words), and what a note embeds.
_NOTE_LINK = r"!\[\[[^\[\]\n]{1,500}\]\]|(?<!\[)\[\[#?(?=[^\W\d_])([^\[\]|\n]{1,500}?)(?:\\?\|([^\[\]\n]{1,500}))?\]\]"
_LINK = regex(
    rf"(`+)[^`\n]*\1|!\[{_WORDS}\]{_TARGET}|(?<![A-Za-z0-9_)\]])\[({_WORDS})\]{_TARGET}"
    rf"|(?<![A-Za-z0-9_)\]])\[(?!\d+\])({_WORDS})\]\[[^\[\]\n]{{0,200}}\]|{_NOTE_LINK}|{_TAG}",
    re.DOTALL,
)
_IN_WORDS = regex(r"[^\W_]")
_FILE = regex(r"\.\w{1,5}(?:#|\Z)")
#: The name of a paragraph in a note, behind it: ``It turns. ^wheel``; a power, as in ``10 ^23``, is none.
_PLACE_NAME = regex(r"(?:\A|[ \t])\^(?=[0-9-]*[A-Za-z])[A-Za-z0-9-]{2,40}[ \t]*$", re.MULTILINE)
#: A link in bold letters between others: editors end these before it, and begin them again behind it.
_BOLD_LINK = regex(rf"\*\*\[\*\*([^\[\]*\n]{{1,200}})\*\*\]({_TARGET})(\*\*)?")
#: The second half of a link whose words began in the sentence or passage before.
_HALF_LINK = regex(rf"\A([^\[\]]*)\]{_TARGET}")
#: The same of a link to a note: ``of the mill|the mill]] is open``.
_HALF_NOTE = regex(r"\A[^\[\]\n|]{0,200}\|([^\[\]\n|]{1,200})\]\]")
#: The second half of a tag, at the beginning of a passage: ``href="a.md"/>``.
_HALF_TAG = regex(rf"\A(?:{_ATTRIBUTE.replace('+', '*', 1)})*\s*/?>")
#: The lines of a table that has no bars, or is drawn as a grid.
_RULE = regex(r"(?:(?<=\s)|\A)[+|]?[-=]{4}[-=+|:]*+(?:\s+[-=+|:]{4,}+)*+(?=\s|\Z)")
#: Stands for a reference of the source, which would look like one of the answer; and what goes with it: "see: [1]."
_MARKER = "\0"
_BETWEEN_MARKERS = regex(rf"{_MARKER}(?:[ \t]*[,;–—-][ \t]*{_MARKER})+")
_BEFORE_MARKER = regex(rf"(?<!\s)\s*+(?::\s*+)?{_MARKER}+(?:\s*{_MARKER})*(?=\s*[.,;!?])")
#: A line of a name and what it is: a cell of a row, a field of a card.
_PAIR = regex(r"[ \t]*[^\s:|][^:|]{0,200}:[ \t]+\S")
#: What Markdown has before the definition of a word.
_DEFINES = regex(r"\A:[ \t]+")
#: What shows or says nothing by itself: a tag of a template, the label that MkDocs has above a block or tab, or
#: the name of what it takes from the code.
_LABEL = regex(
    r"\{%[^{}]{0,300}%\}\s*|^(?:===\+?|[!?]{3}\+?)[ \t][^\n]*|^:::[ \t]+\w+(?:\.\w+)+(?:\s+\w+:)*", re.MULTILINE
)
#: Tags of a template in a line of their own: ``{% hint style="info" %}`` of GitBook.
_TAG_LINE = regex(r"^[ \t]*(?:\{%[^{}\n]{0,300}%\}[ \t]*)+(?:\n|\Z)", re.MULTILINE)
#: What is written with a mark or by name so that it is no markup, and a forced line end. Code comes as it is.
_WRITTEN = regex(
    r"(`+)[^`\n]*\1|(?<![\\:])\\([\[\]*_~#>|!$&+-])|\\(?=\n)"
    r"|&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,30});"
)
#: The line that opens or closes a note (``:::caution``, ``:::note[Read this]{.wide}``, ``::: tip Speed``, ``[!NOTE]``),
#: and what stands before its title: ``[!tip]- Speed``.
_NOTE = regex(
    r"^[ \t]*(?:>[ \t]*)?(?::{3,}(?:[ \t]*[\w-]+)?(?:\[[^\]\n]*\])?(?:\{[^}\n]*\}|[ \t]+[^\n.{]{1,60})?[ \t]*(?:\n|\Z)"
    r"|\[![A-Za-z][\w-]*\][+-]?(?:[ \t]+|[ \t]*(?:\n|\Z)))",
    re.MULTILINE,
)
#: What a line of a docstring says of a parameter, a result or an error, up to there: ``:param int speed:``.
_FIELD = regex(
    r"^[ \t]*:(?:(?:param|parameter|arg|argument|key|keyword|var|ivar|cvar)[ \t]+([^:\n]{1,100})"
    r"|(returns?|rtype|yields?|(?:raises?|except|exception|type|vartype)[ \t]+[^:\n]{1,100})):(?=\s|$)",
    re.MULTILINE,
)
#: Version notes of documentation, in its markup and in words; they mean nothing without what they are about.
_VERSIONS = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
}
_VERSION = regex(rf"\.\.[ \t]+({'|'.join(_VERSIONS)})::[ \t]*([\w.]+)\s*(?:[\"']{{3}}\s*$)?")
_OF_VERSION = regex(r"\W*(?:new|added|changed|deprecated|removed) (?:in|since) version\b", re.IGNORECASE)
#: The subject of documentation: code alone on a line, or a definition.
_DESCRIBED = regex(r"^[ \t]*(?:`([^`\n]+)`[ \t]*$|(?:async[ \t]+)?((?:def|class)[ \t]+\w+))", re.MULTILINE)


def shown(sentence: str, passage: Passage | None = None, start: int = 0, longest: int = LONGEST_EXTRACT) -> str:
    """A sentence in one line, without markup and what would look like a citation; only a very long one is cut.

    With its passage and position, a version note gets the subject that it is about.
    """
    in_block = passage is not None and is_in_block(passage.hit.content, start)
    code = code_lines(sentence) if in_block and "`" not in sentence else ""
    if 0 < len(code) <= longest and code.count("` `") < _FEW_LINES:
        return code
    plain = _FIELD.sub(_named_field, _VERSION.sub(_named_version, sentence))
    if not in_block:
        plain = without_quotation_marks(_INCLUDED.sub("", plain))
        plain = _NOTE.sub("", _HALF_NOTE.sub(r"\1", _HALF_TAG.sub("", plain)) if start == 0 else plain)
        plain = _BOLD_LINK.sub(_within_bold, _TAG_LINE.sub("", plain))
        plain = _RULE.sub("", _HALF_LINK.sub(r"\1", _LINK.sub(_words_of_link, plain)))
        plain = _WRITTEN.sub(_as_read, _PLACE_NAME.sub("", plain))
    if passage is not None and _OF_VERSION.match(plain):
        described = [found[1] or found[2] for found in _DESCRIBED.finditer(passage.hit.content, 0, start)]
        of = described[-1] if described else last_heading(passage.hit.heading) or passage.hit.title
        plain = f"{of.strip()}: {plain}" if of.strip() else plain
    words = plain if plain.strip() else sentence
    if not in_block:
        marked = _BETWEEN_MARKERS.sub(_MARKER, replace_markers(words, lambda _: _MARKER))
        words = _BEFORE_MARKER.sub("", marked).replace(_MARKER, "")
    lines = words.strip().splitlines()
    is_card = not in_block and is_record(words)
    line = _DEFINES.sub("", " ".join((" | " if is_card else " ").join(lines).split()))
    if passage is not None and line[:1].islower() and not in_block and _begins_cut(passage.hit, start):
        line = f"… {line}"
    return cut(line, longest)


def _begins_cut(hit: Hit, start: int) -> bool:
    """Return whether a sentence is the first of a passage that begins within its document."""
    return hit.start_char > 0 and not hit.content[:start].strip()


def cut(line: str, longest: int) -> str:
    """Return a line, or as many of its words as fit, with a mark behind them."""
    return line if len(line) <= longest else line[:longest].rsplit(" ", 1)[0] + " …"


def is_record(sentence: str) -> bool:
    """Return whether each of several lines is a name and a value, which are shown as cells of a row are."""
    lines = sentence.strip().splitlines()
    return len(lines) > 1 and all(map(_PAIR.match, lines))


def has_words(sentence: str, *, begins: bool) -> bool:
    """Return whether a sentence is more than markup: tags, images, or the label of a note.

    Args:
        sentence: A sentence that is in no block of code.
        begins: Whether it is the first one of its passage, which may begin within a tag.
    """
    whole = _HALF_TAG.sub("", sentence) if begins else sentence
    said = _PLACE_NAME.sub("", _LABEL.sub("", _LINK.sub(_words_of_link, _NOTE.sub("", whole))))
    return bool(said.strip(" \t\n/>"))  # / and > end a tag


def code_lines(code: str) -> str:
    """Return the lines of a piece of code one behind the other; a command that goes on in the next line is one."""
    lines = (line.strip() for line in _GOES_ON.sub(" ", code).splitlines())
    return " ".join(f"`{line}`" for line in lines if line and not INCLUDES.fullmatch(line))


def _named_version(version: re.Match[str]) -> str:
    """Return a version note in words: ``.. versionchanged:: 8.0`` is "Changed in version 8.0:"."""
    ends = version.end() == len(version.string)
    return f"{_VERSIONS[version[1]]} {version[2]}{'.' if ends else ': '}"


def _words_of_link(link: re.Match[str]) -> str:
    """Return the text of a link; nothing for an image or a tag."""
    if link[1]:
        return link[0]
    if link[4]:
        return link[5] or link[4].replace("#", " > ")
    if link[0].startswith("![[") and _FILE.search(name := link[0][3:-2].partition("|")[0]) is None:
        return name.replace("#", " > ")  # another note, or a part of one
    words = link[2] or link[3]
    if words and _IN_WORDS.search(unescape(words)) is None:
        return ""  # a sign that leads somewhere: "[¶](#here)", "[Ⓢ](code.js)"
    return _LINK.sub(_words_of_link, words) if words else " " if link[0].startswith("<br") else ""


def _within_bold(link: re.Match[str]) -> str:
    """Return a link whose words are bold with what is around it, which may end with it."""
    return f"[{link[1]}]{link[2]}{'' if link[3] else '**'}"


def _as_read(written: re.Match[str]) -> str:
    """Return a character that was written with a mark or by its name; nothing for what only is markup."""
    if written[1]:
        return written[0]
    if not written[0].startswith("&"):
        return written[2] or ""
    character = unescape(written[0])
    return character if character.isprintable() else " "


def _named_field(field: re.Match[str]) -> str:
    """Return the name of a field, separated from the field above in the way of table cells."""
    return f"{'| ' if field.string[: field.start()].strip() else ''}{field[1] or field[2]}:"
