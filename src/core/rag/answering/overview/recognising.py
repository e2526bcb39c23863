"""Whether a question is about all documents together, or about one: in English, German, French and Spanish.

The whole question has to be such a phrase. With any other word ("What are the main topics of the mill?") it has a
subject, which is searched for.
"""

from __future__ import annotations

import re

from libs.regexes import regex

_DOCUMENTS = (
    r"(?:documents?|docs|files?|sources?|texts?|pages?|corpus|collections?|knowledge (?:base|graph)|graph|database|data"
    r"|data ?sets?|documentation|folder|library|archive|notes?|contents?|materials?)"
)
_ALL_DOCUMENTS = (
    rf"(?:(?:(?:all|all of|each of|the|this|these|those|my|our|your|whole|entire) )+{_DOCUMENTS}"
    r"|documents|files|sources)"
)
_TOPICS = (
    r"(?:(?:main|key|central|major|most important|principal|recurring|common|core|overall|general) )?"
    r"(?:topics?|themes?|subjects?)"
)
_WITHIN = rf"(?: (?:(?:covered|discussed|addressed|treated) )?(?:of|in|by|across) {_ALL_DOCUMENTS})?"
#: What only points: in a conversation, at what was said there.
_POINTING = r"(?:this|that|these|it|here)"
_EVERYTHING = rf"(?:everything|all|it all|all of (?:it|this|that|them)|{_ALL_DOCUMENTS})"
_GERMAN = (
    r"(?:(?:diese[mnrs]?|die|de[mnr]|das|alle[nrs]?|meine[mnrs]?|unsere[mnrs]?|ganzen?|gesamten?) )*"
    r"(?:dokumente?n?|dateie?n?|texte?n?|quellen?|sammlung|wissensbasis|unterlagen|notizen|daten|ordners?)"
)
_FRENCH = (
    r"(?:(?:tous|toutes|les|des|ces|cette|la|le|l'ensemble|mes|nos|de|du) )*"
    r"(?:documents?|fichiers?|textes?|sources?|notes)"
)
_SPANISH = (
    r"(?:(?:todos?|todas?|los|las|estos|estas|esta|la|el|mis|de|del) )*(?:documentos?|archivos?|textos?|fuentes?|notas)"
)

#: Phrases about the documents, whatever was said before.
_PHRASES = (
    rf"what(?:'s| is| are| do| does) {_EVERYTHING} (?:all )?(?:about|cover|contain|say|deal with)",
    rf"what {_EVERYTHING} (?:is|are) (?:all )?about",
    rf"what(?:'s| is) (?:there )?in {_ALL_DOCUMENTS}",
    rf"(?:summari[sz]e|sum up|describe) {_EVERYTHING}",
    rf"(?:(?:a|an|the|short|brief|quick|general) )*(?:overview|summary) (?:of|over) {_EVERYTHING}",
    rf"(?:(?:what|which) are (?:the )?|list (?:the |all )?|the )?{_TOPICS}{_WITHIN}",
    rf"(?:what|which) {_TOPICS} (?:are (?:there|covered|discussed)|do(?:es)? {_EVERYTHING} (?:cover|discuss)){_WITHIN}",
    rf"(?:what|which) {_DOCUMENTS} (?:are there|do you have|are (?:in|part of) {_ALL_DOCUMENTS})",
    rf"(?:list|show) (?:all )?(?:of )?(?:the )?{_DOCUMENTS}",
    rf"how many {_DOCUMENTS} (?:are there|do you have|do (?:i|we) have|are in {_ALL_DOCUMENTS})",
    r"what do you know(?: about)?|what can (?:i|we) ask(?: you)?(?: about)?|what can you (?:tell me|answer)(?: about)?",
    rf"(?:worum geht es|worum dreht es sich|wovon handel[nt]|was steht|was ist) (?:denn )?(?:in )?{_GERMAN}(?: alles)?",
    rf"fass(?:e|en sie)? (?:alles|{_GERMAN}) (?:kurz )?zusammen",
    rf"(?:(?:eine?n?|kurzen?) )*(?:überblick|übersicht|zusammenfassung) (?:über |von |der )?(?:alles|{_GERMAN})",
    rf"(?:(?:was|welche[s]?) sind |nenne )?die (?:wichtigsten |zentralen |haupt)?themen(?: (?:in|der|von) {_GERMAN})?",
    r"welche themen (?:gibt es|werden behandelt|kommen vor)|was weißt du",
    r"(?:welche|wie viele) (?:dokumente|dateien|quellen|texte) (?:gibt es|hast du|sind da)",
    rf"de quoi (?:parlent|traitent|parle|traite) {_FRENCH}|(?:résume[rz]?) (?:tout|{_FRENCH})",
    rf"(?:un |une )?(?:aperçu|vue d'ensemble|résumé) (?:de tout|{_FRENCH})",
    rf"quels sont les (?:principaux |grands )?(?:thèmes|sujets)(?: (?:dans )?{_FRENCH})?",
    rf"de qué tratan? {_SPANISH}|(?:resume|resuma|resumir) (?:todo|{_SPANISH})",
    rf"(?:un )?resumen (?:de todo|{_SPANISH})",
    rf"cuáles son los (?:temas|asuntos)(?: principales| más importantes)?(?: (?:en )?{_SPANISH})?",
)
#: Phrases about what was said before, or if nothing was, about the documents.
_POINTING_PHRASES = (
    rf"what(?:'s| is) {_POINTING} (?:all )?about|what is there(?: to know)?",
    rf"(?:summari[sz]e|sum up)(?: {_POINTING})?|(?:(?:a|an|the|short|brief|quick|general) )*(?:overview|summary)",
    r"worum geht es(?: hier| hierbei| dabei)?|fass(?:e|en sie)? (?:das|es|dies) (?:kurz )?zusammen",
    r"(?:(?:eine?n?|kurzen?) )*(?:überblick|übersicht|zusammenfassung)|de quoi s'agit-il|de qué trata(?: esto)?",
)
_OF_DOCUMENTS = regex("|".join(f"(?:{phrase})" for phrase in _PHRASES))
_POINTS = regex("|".join(f"(?:{phrase})" for phrase in _POINTING_PHRASES))

#: What may stand around any question.
_POLITE = regex(
    r"(?:(?:hi|hello|hey|please|bitte|(?:can|could|would|will) you"
    r"|(?:i|we)(?: would|'d)? (?:want|like)(?: you)?(?: to)?|(?:give|show|tell) (?:me|us)"
    r"|gib mir|zeige? mir|kannst du(?: mir)?|donne[- ]moi|s'il (?:te|vous) plaît|dame|por favor)(?: |\Z))*+"
)
_AFTER = regex(r"(?: (?:please|bitte|for me|por favor|briefly|in (?:a few|one|two|three) sentences?))+\Z")
_MARKS = regex(r"[¿¡\"“”„«»?!.,:;…]+")
_LONGEST = 200
#: Spaces, quotation marks and ends of sentences.
_AROUND = " ¿¡?!.\"'“”„«»`"

#: Phrases about a document that is named.
_NAMED = (
    r"(?:summari[sz]e|sum up|outline) (.+)",
    r"(?:(?:a|an|the|short|brief|quick) )*(?:summary|overview|outline) of (.+)",
    r"what(?:'s| is) (.+?) (?:all )?about|what(?:'s| is) in (.+)",
    r"what does (.+) (?:say|cover|contain|describe)",
    r"fass(?:e|en sie)? (.+) (?:kurz )?zusammen|(?:eine )?zusammenfassung (?:von|des|der) (.+)",
    r"(?:worum geht es|was steht) i[nm] (.+)|(?:résume[rz]?|resum[ae]|resumir) (.+)",
    r"de quoi (?:parle|traite) (.+)|de qué trata (.+)|(?:un )?(?:résumé|resumen) (?:de|du|del) (.+)",
)
_OF_DOCUMENT = regex("|".join(f"(?:{phrase})" for phrase in _NAMED))
_ARTICLE = regex(r"(?:the|this|my|our|der|die|das|den|dem|la|le|les|el|los|las) |l'")
_KINDS = "document|file|page|paper|article|report|book"
_KIND = regex(rf"(?:{_KINDS}|dokument|datei|seite|fichier|documento|archivo)(?: called| named)? ")
_KIND_BEHIND = regex(rf" (?:{_KINDS})\Z|-(?:dokument|datei|seite)\Z")


def asks_for_overview(question: str, *, alone: bool = True) -> bool:
    """Return whether a question is about all documents together.

    Args:
        question: The question.
        alone: Whether nothing was said before it, that "Summarize this" may be about.

    Example:
        >>> asks_for_overview("What are these documents about?"), asks_for_overview("What are tides about?")
        (True, False)
    """
    asked = _plain(_MARKS.sub(" ", question)) if len(question) <= _LONGEST else ""
    return _OF_DOCUMENTS.fullmatch(asked) is not None or (alone and _POINTS.fullmatch(asked) is not None)


def documents_asked(question: str) -> list[str]:
    """Return what the document may be :func:`called` that a question is about as a whole; else nothing.

    Example:
        >>> documents_asked("Please summarize the file minutes-7.docx!")
        ['file minutes 7.docx', 'minutes 7.docx', 'the file minutes 7.docx']
    """
    asked = _plain(question.strip(" ¿¡?!.")) if len(question) <= _LONGEST else ""
    found = _OF_DOCUMENT.fullmatch(asked)
    if found is None:
        return []
    whole = next(name for name in found.groups() if name).strip(_AROUND)
    bare = whole[_length(_ARTICLE, whole) :].strip(_AROUND)
    names = {whole, bare, bare[_length(_KIND, bare) :].strip(_AROUND), _KIND_BEHIND.sub("", bare)}
    return sorted(set(map(called, names)) - {""})


def called(name: str) -> str:
    """Return the name of a document as it is compared: small, without marks around it, in words ("chapter-3")."""
    return _small(name.replace("-", " ").replace("_", " ")).strip(_AROUND)


def _small(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").split())


def _plain(question: str) -> str:
    """Return a question in small letters, without what may stand around any."""
    plain = _small(question)
    return _AFTER.sub("", plain[_length(_POLITE, plain) :])


def _length(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.match(text)
    return found.end() if found else 0
