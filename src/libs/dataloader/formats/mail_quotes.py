"""Earlier messages below a reply, which some programs put there without a mark: they become quotations."""

from __future__ import annotations

import re

from libs.regexes import regex

#: The line above an earlier message: "On 9 May 2016 at 11:33, Ada Lane wrote:"; it may be wrapped.
_WROTE = (
    r"(?:On|Am|Le|El|Il|Op|Em|Den|Dne)\b(?=[^\n]*\d)[^\n]{5,200}(?:\n[^\n]{1,200})?"
    r"(?:\bwrote|\bschrieb(?:[ \t][^\n]{1,200})?|\ba écrit|\bescribió|\bha scritto|\bschreef(?:[ \t][^\n]{1,200})?"
    r"|\bescreveu|\bskrev(?:[ \t][^\n]{1,200})?|\bnapsal\(a\))\s?:[ \t]*$"
)
_ORIGINAL = (
    r"-{2,}[ \t]*(?:Original Message|Ursprüngliche Nachricht|Original-Nachricht|Message d['’]origine|Mensaje original"
    r"|Messaggio originale|Oorspronkelijk bericht)[ \t]*-{2,}[ \t]*$"
)
#: Its headers, as Outlook has them, perhaps in bold letters; some of them are below a line.
_HEADERS = (
    r"(?:_{8,}[ \t]*\n\s*)?\*{0,2}(?:From|Von|De|Da|Van)[ \t]?:\*{0,2}[ \t][^\n]+\n\s*"
    r"\*{0,2}(?:Sent|Date|Gesendet|Datum|Envoyé|Enviado(?: el)?|Inviato|Verzonden)[ \t]?:\*{0,2}[ \t][^\n]*\d[^\n]*"
    r"\n\s*"
    r"\*{0,2}(?:To|An|À|Para|A|Aan|Cc|Subject|Betreff|Objet|Asunto|Oggetto|Onderwerp)[ \t]?:"
)
_EARLIER = regex(rf"^(?:(?P<said>{_WROTE}|{_ORIGINAL})|{_HEADERS})", re.MULTILINE)
_FORWARDED = regex(r"\s*(?:fwd?|wg|tr|rv)\s*:", re.IGNORECASE)
_MARKED = regex(r"\s*>")


def with_quotations(text: str, subject: str) -> str:
    """Return the text of a message with the earlier ones below it as quotations: each line begins with ``> ``.

    Who said something is told by the headings above it, so what others wrote may not look as if it was of this
    message. A forwarded message (``subject``) is what the mail is there for, and stays as it is, as does an earlier one
    that has such marks, or without a reply above it.
    """
    if _FORWARDED.match(subject):
        return text
    for earlier in _EARLIER.finditer(text):
        if not text[: earlier.start()].strip():
            return text
        start = earlier.end() if earlier["said"] else earlier.start()
        if _MARKED.match(text, start) is None:
            quoted = "\n".join(f"> {line}".rstrip() for line in text[start:].strip().split("\n"))
            return f"{text[:start].rstrip()}\n\n{quoted}"
    return text
