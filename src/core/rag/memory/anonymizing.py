"""Replaces personal data in texts, consistently and without a model.

Found by form: e-mail addresses, phone numbers (:mod:`core.rag.memory.phones`), card numbers (with
their check digit), IBANs (with theirs), numbers behind a word like "account", IP and street addresses. Found by name:
names that the graph knows, names behind a title (Mr, Dr, Frau …), an introduction (my name is …), a greeting (Dear …)
or a farewell (Best regards, …), in an e-mail address (ann.lee@…), given names that are on the lists of Faker, and the
words with capitals behind these; also joined as in an account (annharlow, ann_harlow). A name that nothing gives away
stays.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from core.rag.errors import InvalidInputError
from core.rag.memory.given_names import CAPITAL, PARTICLES, SMALL_WORDS, cases, is_ambiguous, names_in
from core.rag.memory.phones import phone_numbers
from libs.regexes import regex

#: Scripts without spaces between words, or with endings that adjoin names: Thai, kana, Han, Hangul.
_JOINED = r"\u0e00-\u0e7f\u3005\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
#: A letter, digit or _ of a script with spaces between words; in others, addresses directly adjoin words.
_SPACED = rf"[^\W{_JOINED}]"
_SPACED_LETTER = rf"(?:(?![\d_]){_SPACED})"
_EMAIL = regex(
    rf"(?<!{_SPACED})(?<![.+-])(?:{_SPACED}|[.+%-]){{1,64}}@(?:(?:{_SPACED}|-){{1,63}}\.)+{_SPACED_LETTER}{{2,24}}"
    rf"(?!{_SPACED}|-)"
)
# A lookahead, because text after a number may look like part of it, but be the beginning of the next one.
_IBAN = regex(r"\b(?=(?P<number>[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]){11,30})\b)")
_CARD = regex(r"(?<![\w-])\d(?:[ -]?\d){12,18}(?![\w-])")
#: In the form printed on cards; also after other numbers.
_PRINTED_CARD = regex(
    r"(?<![\w-])(?=(?P<number>[3-6]\d{3}([ -])\d{4}\2\d{4}\2\d{4}|3[47]\d\d([ -])\d{6}\3\d{5})(?![\w-]))"
)
#: A number without a recognisable form, after a word that says what it is.
_NUMBERED = regex(
    r"(?i:\b(?:account|acct|sort code|routing|ssn|social security|konto(?:nummer)?|compte|cuenta|conto)\b\.?"
    r"(?:\s+(?:number|num|nummer|no|nr|numéro|número|numero)\b\.?)?)"
    r"(?:\s*[:=#]|\s+(?:is|ist|est|es|è)\b)?\s*(?P<number>\d(?:[ -]?\d){4,33})(?![\w-])"
)
_IP = regex(
    r"(?<![\w.])(?<!(?i:version|release) )(?<!(?i:version|release): )(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\w)"
    r"|(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}(?:[0-9A-Fa-f]{1,4}|(?:\d{1,3}\.){3}\d{1,3})?(?![\w:])"
)
#: Separator of the words of a name; a dot or hyphen as in an e-mail address.
_BETWEEN_NAMES = r"(?:\s+|[.-])"
_WORD = rf"{CAPITAL}[^\W\d_]*(?:[-'’][^\W\d_]+){{0,9}}"
#: A word of a street name, with the particles before it.
_STREET_WORD = rf"(?:(?:de|du|des|del|della|dei|dos|das|da|do|les|la|las|los|le|el)\s+|[dl]['’])*{_WORD}"
#: What follows a street: "10115 Berlin", "Springfield, IL 62704", "Leeds LS1 4DY".
_UK_POSTCODE = r"[A-Z]{1,2}\d[A-Z\d]?[ ]?\d[A-Z]{2}\b"
_TOWN = (
    rf"(?:(?:,\s+(?:[A-Z]{{1,2}}-)?\d{{4,5}}|\s+(?:[A-Z]{{1,2}}-)?\d{{5}})\s+{_WORD}(?:[ -]{_WORD})?"
    rf"|,?\s+(?:{_WORD}(?:\s+{_WORD})?,?\s+(?:[A-Z]{{2}}\s+\d{{5}}(?:-\d{{4}})?\b|{_UK_POSTCODE})|{_UK_POSTCODE}))"
)
#: "12", "221B", "12-14", "12/3"; where a street comes before it, also "12 a".
_HOUSE = r"\d{1,5}(?:[-–/]\d{1,5})?[A-Za-z]?"
#: A part of a house, behind its street: "Apt. 4B", "Suite 200".
_ROOM = r"(?:,?\s+(?i:apartment|apt|suite|ste|unit|flat|floor)\b\.?\s*#?\w{1,5}\b|,?\s+#\d{1,5}[A-Za-z]?\b)"
_STREET = regex(
    rf"(?:\b{_HOUSE}\s+(?:[NSEW]\.\s+)?(?:(?:{_WORD}|\d{{1,3}}(?:st|nd|rd|th))\s+){{1,3}}"
    r"(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Boulevard|Blvd|Square|Sq|Way|Court|Ct|Place|Pl|Terrace"
    r"|Crescent|Close|Gardens|Grove|Mews|Parkway|Pkwy|Highway|Hwy|Circle|Cir|Trail)\b\.?"
    rf"(?:\s+[NS]?[EW]\b|\s+[NS]\b)?{_ROOM}?"
    rf"|(?<![\w-])(?:{_WORD}\s)?(?:[^\W\d_]+-){{0,4}}[^\W\d_]*(?:straße|strasse|str\.|weg|platz|allee|gasse|Straße|Strasse|Weg|Platz|Allee|Gasse)"
    rf"\s+{_HOUSE}\b(?:[ ][a-z]\b(?=\s*(?:[,;.\n]|\Z)))?"
    rf"|\b\d{{1,5}}(?:[ ]?(?:bis|ter))?,?\s+(?:[Rr]ue|[Aa]venue|[Bb]oulevard|place|[Cc]hemin|impasse|allée|[Qq]uai)"
    rf"\s+{_STREET_WORD}"
    rf"|\b(?:[Cc]alle|[Aa]venida|[Rr]ua|[Vv]iale|[Pp]iazza|Via|Corso|Largo|Paseo|Plaza|Praça)"
    rf"(?:\s+{_STREET_WORD}){{1,4}},?\s+(?:n[.º°]*\s*)?\d{{1,4}}\b)"
    rf"(?:{_TOWN})?",
)
#: One or several of these: "Frau Dr.", "Prof. Dr. med.". In Romance languages they are written small, too.
_TITLES = (
    r"(?:(?:Mr|Mrs|Ms|Miss|Mx|Dr(?:\.[ ]?(?:med|phil|rer|nat|jur)\b)*|Prof|Sir|Madam|Herrn?|Frau|M|Mme|Mlle|Sra?|Sig|"
    r"Dott|(?i:господин|госпожа|señor(?:a|ita)?|signor[ae]?|signorina|monsieur|madame|mademoiselle))\b\.?\s+){1,5}+"
)
_TITLED = regex(rf"\b{_TITLES}(?P<name>{SMALL_WORDS}{_WORD}(?:\s+{SMALL_WORDS}{_WORD}){{0,2}})")
_NAME = rf"(?P<name>{_WORD}(?:[ ]+{SMALL_WORDS}{_WORD}){{0,2}})"
_INTRODUCED = regex(
    r"\b(?i:my name is|my name['’]s|i am called|call me|this is|mein name ist|ich hei(?:ß|ss)e|je m['’]appelle|"
    r"mon nom est|me llamo|mi nombre es|mi chiamo|il mio nome è|mijn naam is|ik heet|меня зовут|мо[её] имя|мене звати)"
    rf"\s+{_NAME}"
)
#: "I am" precedes many other things: a single word must end the phrase, and not look like a nationality.
_I_AM = regex(
    rf"\b(?:I am|I'm|I’m)\s+(?P<name>{_WORD}(?:[ ]+{_WORD}){{1,2}}"
    rf"|(?!\w+(?:an|ish|ese|ch|i|er|or|ist)\b){_WORD}(?=[,.!]|\s+(?:and|from|here)\b|$))",
    re.MULTILINE,
)
#: The same in Chinese, Japanese and Korean, where what follows a name says where it ends. No kana: they are endings.
_HAN = r"[\u3005\u30a0-\u30ff\u3400-\u9fff\uac00-\ud7a3]"
_CALLED = regex(
    r"(?:(?<=[私僕]の名前は)|(?<=我叫)|(?<=我的名字是)|(?<=[제내] 이름은 ))"
    rf"(?P<name>{_HAN}{{2,8}}?(?:[ \u3000]{_HAN}{{1,4}}?)?)"
    r"(?=です|と|だ|입니다|이에요|예요|[,，、.。!！]|\s|$)",
    re.MULTILINE,
)
_CALLS_ONESELF = regex(
    rf"(?<!{_HAN})(?P<name>{_HAN}{{2,8}}(?:[ \u3000]{_HAN}{{1,4}})?)(?=と(?:申し|もうし|いい|言い)ます)"
)
_ADDRESSED = regex(
    r"(?:^|[.!?,]\s+)(?:Hi|Hello|Hey|Dear|Hallo|Liebe|Lieber|Bonjour|Cher|Chère|Hola|Querid[oa]|Ciao|Car[oa]|"
    r"Здравствуйте,?|Привет,?|Уважаем(?:ый|ая)|Дорог(?:ой|ая)|Шановн(?:ий|а))[ ]+"
    r"(?!(?:There|All|Everyone|Team|World|Sir|Mrs?|Ms|Mx|Dr|Prof|Herrn?|Frau|M|Mme|Mlle|Sra?|Sig|Madame?|Monsieur|"
    rf"Mademoiselle|Señor(?:a|ita)?|Signor[ae]?|Signorina|Все|Коллеги|Друзья|Клиенты?)\b){_NAME}(?=[ ]*[,.!:\n]|$)",
    re.MULTILINE,
)
_SIGNED = regex(
    r"(?i:\b(?:regards|sincerely|yours|cheers|best wishes|gr(?:ü|ue)(?:ß|ss)en?|cordialement|saludos|saluti|"
    r"с уважением|з повагою))[,!]?\s+"
    rf"{_NAME}(?=[ ]*[.!]?[ ]*(?:\n|$))"
)
_MAILBOX = regex(rf"(?<!{_SPACED})(?P<first>{_SPACED_LETTER}{{2,}})[._-](?P<last>{_SPACED_LETTER}{{2,}})@")
#: Mailboxes that belong to no person.
_OFFICES = frozenset(("no", "not", "do", "reply", "info", "help", "support", "sales", "service", "customer", "team"))
_SHORTEST_PART = 3
#: Shorter ones may well be words.
_SHORTEST_HANDLE = 8
#: Ids that are words of any text.
_ROLES = frozenset(
    ("user", "admin", "guest", "me", "you", "owner", "agent", "assistant", "system", "customer", "client")
)


class Anonymizer:
    """Replaces personal data consistently, by ``[email 1]``, ``[person 2]`` …"""

    def __init__(self, names: Iterable[str] = (), region: str | None = None, *, same: Iterable[str] = ()) -> None:
        """Prepare an anonymizer.

        Args:
            names: Known names.
            region: Country of phone numbers without a country code, such as ``DE``; ``None``: only recognise numbers
                with one, in the form of the United States, or behind a word like "call".
            same: Names and ids of one person, which get the same replacement.

        Raises:
            InvalidInputError: if there is no such region.
        """
        if region is not None:
            import phonenumbers

            if region not in phonenumbers.SUPPORTED_REGIONS:
                raise InvalidInputError(
                    f"There is no region {region!r}; give a country code of two capital letters, such as DE."
                )
        self._known: dict[tuple[str, str], str] = {}
        self._numbers: Counter[str] = Counter()
        self._regions = (None, "US") if region is None else (None, region)
        self._people: dict[str, str] = {}
        self._handles: set[str] = set()
        # first word of a name -> names, with all of their words
        self._beginning: dict[str, list[tuple[str, frozenset[str]]]] = {}
        first = ""
        for name in same:
            first = first or self._word("person", name.lower())
            self._learn(name, first)
            if name.isalpha() and name.islower() and name not in _ROLES and not is_ambiguous(name):
                self._handles.add(name)
        for name in names:
            self._learn(name)

    @property
    def replaced(self) -> dict[str, int]:
        """Return the number of distinct values of each kind that were found."""
        return dict(sorted(self._numbers.items()))

    def learn(self, text: str, speaker: str = "") -> None:
        """Learn the names that a text reveals, for all texts; call it with all texts before rewriting any.

        Args:
            text: The text.
            speaker: The replacement for the names of its writer, if known.
        """
        themselves = (_INTRODUCED, _I_AM, _SIGNED, _CALLED, _CALLS_ONESELF)
        for pattern in (*themselves, _TITLED, _ADDRESSED):
            own = speaker if pattern in themselves else ""
            for match in pattern.finditer(text):
                self._learn(match["name"], "" if match[0].lower().startswith("this is") else own)
        for name in names_in(text):
            self._learn(name)
        for match in _MAILBOX.finditer(text):
            parts = (match["first"], match["last"])
            if _OFFICES.isdisjoint(part.casefold() for part in parts):
                self._learn(" ".join(parts))
        # a capitalised word next to a known name is part of it
        known = "|".join(re.escape(name) for name in self._within(text) if " " not in name)
        for match in re.finditer(rf"(?<!\w)(?i:{known})[ ]+(?P<more>{_WORD})(?!\w)", text) if known else ():
            if not match[0].islower() and match["more"].lower() not in self._people and match[0][0].isupper():
                self._learn(match[0])

    def word_for(self, name: str) -> str:
        """Return the replacement of a name; empty if it is unknown."""
        return self._people.get(" ".join(name.split()).lower(), "")

    def only(self, text: str, words: Collection[str]) -> str:
        """Return the text with only the names of certain people replaced (those with these replacements)."""
        return _replaced(text, [span for span in self._names(text) if span[2] in words])

    def text(self, text: str) -> str:
        """Return the text with all personal data replaced."""
        spans = [
            *self._spans(_EMAIL, "email", text),
            *self._spans(_IBAN, "account", text, _is_iban),
            *self._spans(_CARD, "card", text, _is_card),
            *self._spans(_PRINTED_CARD, "card", text, _is_card),
            *self._spans(_NUMBERED, "account", text, str.isdigit),
            *((start, end, self._word("phone", number)) for start, end, number in phone_numbers(text, self._regions)),
            *self._spans(_STREET, "address", text),
            *self._spans(_IP, "address", text, _is_ip),
            *self._names(text),
        ]
        return _replaced(text, spans)

    def _word(self, kind: str, what: str) -> str:
        key = (kind, what)
        if key not in self._known:
            self._numbers[kind] += 1
            self._known[key] = f"[{kind} {self._numbers[kind]}]"
        return self._known[key]

    def _learn(self, name: str, as_word: str = "") -> None:
        whole = " ".join(name.split())
        if len(whole) < 2:
            return
        parts = whole.split()
        own = [part for part in parts if len(part) >= _shortest(part) and part not in PARTICLES]
        inflected = [form for part in own for form in cases(part)]
        known = (self._people.get(form.lower(), "") for form in (whole, *parts, *inflected))
        word = as_word or next(filter(None, known), "") or self._word("person", whole.lower())
        handles = _handles(own) if own == parts else []
        self._handles.update(handles)
        for known_as in (whole, *own, *inflected, *handles):
            if (key := known_as.lower()) not in self._people:
                self._people[key] = word
                # where words adjoin, a name may be anywhere
                words = [] if _is_joined(key) else _words(key)
                self._beginning.setdefault(words[0] if words else "", []).append((key, frozenset(words)))

    def _within(self, text: str) -> list[str]:
        """Return the names whose words are all in a text, so that the search does not slow down with other names."""
        words = {"", *_words(text)}
        words |= {word.removesuffix(_GENITIVE) for word in words}
        return [
            name
            for word in words
            for name, own in self._beginning.get(word, ())
            if own <= words and (own or name.split()[0] in text)
        ]

    def _spans(
        self, pattern: re.Pattern[str], kind: str, text: str, check: Any = None
    ) -> Iterator[tuple[int, int, str]]:
        for match in pattern.finditer(text):
            start, end = match.span("number" if "number" in pattern.groupindex else 0)
            while start < end:
                found = text[start:end].casefold()
                plain = re.sub(r"[\s-]", "", found) if check else " ".join(found.split())
                if check is None or check(plain):
                    yield start, end, self._word(kind, plain)
                    break
                end = text.rfind(" ", start, end)  # the last word may not belong to the name

    def _names(self, text: str) -> Iterator[tuple[int, int, str]]:
        names = sorted(self._within(text), key=len, reverse=True)
        if not names:
            return
        words = {_apart(name): self._people[name] for name in names}
        sentence = len(text.split()) > 1
        for match in re.finditer("|".join(map(_pattern, names)), text, re.IGNORECASE):
            found = _apart(match[0].lower())
            word = words.get(found) or words.get(found.removesuffix(_GENITIVE))
            # "Will" and "Mark" are names, "will" and "mark" are not, unless as a tag or in "user:mark".
            if word and not (sentence and match[0].islower() and match[0].isalpha() and found not in self._handles):
                yield match.start(), match.end(), word


#: German writes it without an apostrophe: Karls Haus. Where that is a name, too (Peter, Peters), the longer one counts.
_GENITIVE = "s"


def in_texts(value: Any, rewrite: Callable[[str], str]) -> Any:
    """Return a JSON value with every text in it rewritten, including keys that are not just a word in small letters."""
    if isinstance(value, str):
        return rewrite(value)
    if isinstance(value, list | tuple):
        return [in_texts(item, rewrite) for item in value]
    if isinstance(value, dict):
        return {
            key if key.islower() and key.isalpha() else rewrite(key): in_texts(item, rewrite)
            for key, item in value.items()
        }
    return value


def _replaced(text: str, spans: Iterable[tuple[int, int, str]]) -> str:
    result, end = [], 0
    for start, stop, word in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= end:
            result += [text[end:start], word]
            end = stop
    return "".join([*result, text[end:]])


def _is_joined(name: str) -> bool:
    """Return whether a name is written in a script in which words directly adjoin others."""
    return re.fullmatch(rf"[{_JOINED}\s]+", name) is not None


def _handles(parts: Sequence[str]) -> list[str]:
    """Return what the words of a name are in accounts and addresses: ``annharlow``, ``ann_harlow``."""
    joined = "".join(parts).lower()
    if not 2 <= len(parts) <= 3 or len(joined) < _SHORTEST_HANDLE or not joined.isalpha() or _is_joined(joined):
        return []
    return [joined, "_".join(parts).lower()]


def _shortest(part: str) -> int:
    """Return the minimum length of a part of a name that stands for the person."""
    return 2 if _is_joined(part) else _SHORTEST_PART


def _pattern(name: str) -> str:
    if _is_joined(name):
        return r"\s?".join(map(re.escape, name.split()))
    return rf"(?<!\w){_BETWEEN_NAMES.join(map(re.escape, name.split()))}{_GENITIVE}?(?!\w)"


def _apart(name: str) -> str:
    """Return a name with its words joined in a uniform way."""
    return re.sub(_BETWEEN_NAMES, "" if _is_joined(name) else " ", name)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _is_card(digits: str) -> bool:
    """Return whether the check digit is right (Luhn, ISO/IEC 7812)."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 * (value > 9)
    return total % 10 == 0 and len(set(digits)) > 1 and len(digits) >= 13


def _is_iban(text: str) -> bool:
    """Return whether the check digits are right (ISO 13616)."""
    turned = text[4:] + text[:4]
    return 15 <= len(text) <= 34 and int("".join(str(int(char, 36)) for char in turned)) % 97 == 1


def _is_ip(text: str) -> bool:
    if ":" not in text:
        return all(int(part) < 256 for part in text.split("."))
    try:
        ipaddress.IPv6Address(text)
    except ValueError:  # the time of a day
        return False
    return any(len(part) > 2 for part in text.split(":"))  # else a slice, [1::2]
