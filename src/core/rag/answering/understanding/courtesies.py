"""Recognises what is said out of courtesy ("Thanks, that helps!"), which asks nothing that could be looked up.

Such a message has no subject of its own, so in a conversation the search would look for the last one again, and the
same answer would come once more.
"""

from __future__ import annotations

from typing import Final

from libs.regexes import regex

_ENGLISH: Final = (
    r"thanks|thank you|thx|cheers|many thanks|no thanks|no problem|ok|okay|alright|all right|great|perfect|cool|nice"
    r"|awesome|wonderful|excellent|good|fine|lovely|wow|lol|interesting|got it|i see|understood|makes sense"
    r"|sounds good|well done|good job|helpful"
    r"|(?:this|that|it)(?: is|'s| was)?(?: so| very| really)?"
    r" (?:helps|helped|great|helpful|all|perfect|good|fine|interesting|enough)"
    r"|hello|hi|hey|good (?:morning|afternoon|evening|night|day)|bye|goodbye|see you(?: later| soon)?"
)
_GERMAN: Final = (
    r"danke|dankeschön|vielen dank|besten dank|herzlichen dank|alles klar|verstanden|prima|toll|super|gut"
    r"|hallo|guten (?:tag|morgen|abend)|tschüss|auf wiedersehen"
)
_FRENCH: Final = r"merci|merci bien|bonjour|bonsoir|salut|au revoir|d'accord|parfait|très bien"
_SPANISH: Final = (
    r"gracias|muchas gracias|hola|buenos días|buenas (?:tardes|noches)|adiós|vale|de acuerdo|perfecto|muy bien"
)
_OTHERS: Final = (
    r"grazie|grazie mille|ciao|buongiorno|arrivederci|va bene|perfetto|obrigad[oa]|muito obrigad[oa]|olá|tchau|bedankt"
    r"|dank je|dank u|hoi|спасибо|большое спасибо|привет|здравствуйте|до свидания"
    r"|ありがとう(?:ございます)?|こんにちは|谢谢|你好|再见"
)
#: What goes with these.
_MORE: Final = (
    r"very|so|much|a lot|really|again|there|then|for now|schön|sehr|beaucoup"
    r"|for (?:the|your|all(?: the| your)?) (?:help|answers?|information|info|explanations?|time)"
    r"|für (?:die|deine|ihre|eure) (?:hilfe|antwort|auskunft)|pour (?:votre|ton) aide"
)
_END: Final = r"(?:[\s,.;:!…。！、\-\u2013\u2014]+|\Z)"
_COURTEOUS: Final = regex(
    rf"(?:(?:{_MORE}){_END})*"
    rf"(?:(?:{_ENGLISH}|{_GERMAN}|{_FRENCH}|{_SPANISH}|{_OTHERS}|h+m+|o+h+|a+h+){_END}(?:(?:{_MORE}){_END})*)+"
)
_MOST_CHARS: Final = 120
#: What stands around the words: signs, pictures, and what is drawn of signs.
_AROUND: Final = regex(r"\A[\W_]+|(?:[\s:;=8]-?[)(dp3]+|[\W_])+\Z")


def asks_nothing(text: str) -> bool:
    """Return whether a message consists of courtesies only: thanks, greetings, approval, goodbyes."""
    if len(text) > _MOST_CHARS or "?" in text or "\N{FULLWIDTH QUESTION MARK}" in text:
        return False
    words = _AROUND.sub("", text.casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
    return _COURTEOUS.fullmatch(words) is not None
