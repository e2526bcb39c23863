"""Tells sentences that answer something from those that say where to read on or what follows, and from data."""

from __future__ import annotations

import re

from libs.regexes import regex

#: What part of its score such a sentence keeps.
LITTLE = 0.4

#: How sentences begin that send the reader elsewhere, in languages that many texts are in.
_POINTS = regex(
    r"\W*(?:(?:note|hint|tip|hinweis|nota) *: *)?(?:"
    r"(?:for|to (?:find|get|learn|see)) (?:\w+ )?(?:more|further|additional|detailed|full|complete) (?:\w+ ){0,2}?"
    r"(?:information|details?|examples?|instructions|documentation|explanations?|descriptions?|about|on)\b"
    r"|for (?:information|details|examples|instructions) (?:on|about|of|how)\b|to (?:learn|read|find out) more\b"
    r"|(?:more|further|additional) (?:information|details|examples) (?:on|about|can|is|are|in|at)\b"
    r"|(?:please )?(?:see|refer to|consult|check out)\b(?: also\b|.{0,150}?(?:https?:|\b(?:guide|documentation|docs|"
    r"section|chapters?|pages?|manual|reference|appendix|tutorial|article|readme|below|above)\b))"
    r"|(?:weitere|mehr|nähere|ausführliche) (?:informationen|details|beispiele|infos)\b|mehr dazu\b|siehe (?:auch|dazu)"
    r"|pour (?:plus|davantage|de plus amples) (?:d[’'e]|de (?:détails|renseignements))|pour en savoir plus\b"
    r"|voir (?:aussi|également)\b"
    r"|para (?:obtener |ver |obter )?(?:más|mais) (?:información|detalles|informações|detalhes)\b"
    r"|(?:véase|vea|veja|vedi|zie) (?:también|também|anche|ook)\b|per (?:ulteriori|maggiori) (?:informazioni|dettagli)"
    r"|voor meer (?:informatie|details)\b|se även\b|mer information\b|подробнее\b|см\. также|więcej informacji\b"
    r"|詳細(?:について)?は|詳しくは|有关(?:更多|详细)?信息|更多信息|자세한 (?:내용|정보)"
    r")",
    re.IGNORECASE | re.DOTALL,
)
#: An item of a table of contents: a link and nothing else.
_LINK = regex(r"\s*(?:\w{2,12}:\s+)?\[[^\[\]]{1,300}\]\([^()\s]{1,1000}\)[.;,]?\s*")
#: Who wants to know where to read on is told.
_WANTED = regex(
    r"\b(?:where|documentation|docs|guide|manual|more information|link|wo|où|dónde|dove|onde|waar)\b|どこ|哪里|어디",
    re.IGNORECASE,
)
#: Data in the notation of JSON: the beginning of an object or list, or a key. A command may have it as an argument.
_DATA = regex(r"\s*(?:[{\[}\]]\s*[{}\[\]\"']|\"[^\"\n]{1,80}\"\s*:)")
#: Tags and nothing else, as "<details open>".
_MARKUP = regex(r"\s*(?:<[^<>]*>\s*)+")
#: A path or an address and nothing else, of a few words at most: "notes/Import from Evernote.md".
_PLACE = regex(r"\s*(?:https?://\S+|(?:[^/:\n]*/)+[^/:\n]*\.\w{1,5}|(?:[\w.~-]*/)+[\w.-]*)\s*")
_MOST_WORDS = 8
#: Several names with a path each, as packages list what they export: "./cors.types: ./dist/cors.d.ts".
_PLACES = regex(r"(?:[^\n:]{1,80}:[ \t]+(?:[\w.@~*-]*/)+[\w.@~*-]*[ \t]*(?:\n+|\Z)){2,}")
#: What comments say of the code's history, and who is asked for by whom that matters to.
_TAG = regex(r"\s*[@\\](?:author|since|version|see|date|copyright)\b")
_ASKS_WHO = regex(r"\b(?:who|whose|author|since|version|wer|seit|qui|depuis|quién|desde)\b", re.IGNORECASE)
#: The lines above a message that say from whom it is, to whom and when; its subject repeats what many are about.
_HEAD_OF_MAIL = regex(
    r"(?:[^\n:]{0,80}\n)?\W*(?:From|Von|De|Da|Van|Från|Fra|Od|От)\s?: [^\n]+(?:\n[^\n:]{1,20}: [^\n]+){2,}\s*"
)
_ASKS_FOR_MAIL = regex(
    r"\b(?:who|whom|whose|wrote|write|written|sen[dt]|e-?mails?|mails?|messages?|subject|wer|wem|schrieb|geschrieben|gesendet|betreff|qui"
    r"|écrit|envoyé|courriels?|quién|escribió|correos?|chi|scritto)\b",
    re.IGNORECASE,
)
_ASKS_FOR_SOURCE = regex(
    r"\b(?:referenc|cit(?:e[sd]?|ations?)\b|bibliograph|literatur|papers?\b|articles?\b|books?\b|publish|authors?\b|wrote"
    r"|written|quelle|veröffentlich|autor|référenc|publi|fuente)",
    re.IGNORECASE,
)
#: References to manual pages and nothing else: "ls(1), chmod(2)".
_REFERENCES = regex(r"(?:[\w.@:+-]{1,60}\(\d\w{0,3}\)(?:[\s,;.、]+(?:and |und |et |y |e )?|\Z))+")


def substance(question: str, sentence: str, *, last: bool = False) -> float:
    """Return what part of the score of a sentence counts, over 0 to 1.

    Args:
        question: The question.
        sentence: A sentence of a passage, as it stands there.
        last: Whether nothing follows it in the passage.
    """
    if _TAG.match(sentence) is not None and _ASKS_WHO.search(question) is None:
        return LITTLE
    if _HEAD_OF_MAIL.fullmatch(sentence) is not None and _ASKS_FOR_MAIL.search(question) is None:
        return LITTLE
    bare = sentence.count(" ") < _MOST_WORDS and _PLACE.fullmatch(sentence) is not None
    bare = bare or _MARKUP.fullmatch(sentence) is not None or _PLACES.fullmatch(sentence.lstrip()) is not None
    return LITTLE if bare or _DATA.match(sentence) is not None or only_points(question, sentence, last=last) else 1.0


def asks_for_source(question: str) -> bool:
    """Return whether a question asks for what a list of sources has: who wrote what, and where it was published."""
    return _ASKS_FOR_SOURCE.search(question) is not None


def only_points(question: str, sentence: str, *, last: bool) -> bool:
    """Return whether a sentence only says where to read on, which the question does not ask, or what follows.

    The arguments are those of :func:`substance`: what the last sentence announces ("The options are:") is not there.
    """
    if last and sentence.endswith((":", "：")):
        return True
    points = _REFERENCES.fullmatch(sentence) or _LINK.fullmatch(sentence) or _POINTS.match(sentence)
    if points is None:
        return False
    return _WANTED.search(question) is None
