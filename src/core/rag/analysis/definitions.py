"""What passages define, and what questions want defined: "What is a checkpoint?", "work_mem".

Words alone do not find a definition: a passage that has the word more often ranks before the one that explains it. So
each thing that a passage defines is a word of its own in the index, made from its name; a question for the meaning of
something looks for that word, too. It is rare, and therefore weighs much.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Final

from libs.regexes import regex

#: Maximum number of characters of a name, and of words that a question may have in it.
_LONGEST_NAME: Final = 60
_MOST_WORDS: Final = 5
#: Letters of a name that is the same without its signs, and without the s behind more of them.
_LONG_ENOUGH: Final = 3
#: Maximum number of names of a passage.
_MOST_NAMES: Final = 64

#: What a definition list says of the terms in the lines before it, and how many lines these are at most.
_LISTED: Final = regex(r"\n[ \t]*: +\S")
_MOST_TERMS: Final = 6
_LONGEST_TERMS: Final = 600  # characters
#: An item, a row or a paragraph that begins with a name in bold letters or as code, and what is said of it.
_MARKED: Final = regex(
    r"^[ \t]*(?:[-*+] |\| *)?(?:\*\*([^*\n]{1,60})\*\*|`([^`\n]{1,60})`)(?: *\([^)\n]{0,40}\))?(?::| *\|| [-–—] )",
    re.MULTILINE,
)
#: A row of a name and what is said of it: "| pluribus | Is it one of many in a bag? |".
_ROW: Final = regex(
    r"^[ \t]*\|[ \t]*([^|\s][^|\n]{0,59}?)[ \t]*\|[ \t]*\S+[ \t]+\S+[ \t]+\S[^|\n]*\|?[ \t]*$", re.MULTILINE
)
#: The first line of a manual page: "ls, dir - list directory contents".
_MANUAL: Final = regex(r"\A\s*(?:#[^\n]*\n\s*){0,2}([\w.+-]{1,30}(?:, [\w.+-]{1,30}){0,5}) [-–—] \S")
#: One of these is in every such definition.
_DEFINING: Final = (": ", " - ", "|", "–", "—")
#: A heading in a passage.
_HEADING: Final = regex(r"^#{1,6}[ \t]+([^\n]{1,100}?)[ \t#]*$", re.MULTILINE)
#: What stands in brackets behind a name.
_ASIDE: Final = r"(?:\s*[(（][^()（）\n]{1,80}[)）])?"
#: Between a name and what it is, where no article follows: "中间件是…", "水門とは…", "미들웨어는 …", "Шлюз — это …".
_IS_EASTERN: Final = r"(?:\s?(?:是|指|とは|は|이란\s|란\s|은\s|는\s)|\s+[-–—]\s+(?:это|це)\s)"
#: The first sentence below it, which says what something is: "An *ebb* is a tide".
_IS: Final = regex(
    rf"[*_`\"“„»«「『 \t\n]*+([^\n.;:!?]{{1,80}}?)[*_`\"”“»«」』]*{_ASIDE},?(?:{_IS_EASTERN}|\s+"
    r"(?:(?:is|are|was|were)\s+(?:an?|the|any|one|how|what|when|where|[\w-]{1,30}['’]s?)|(?:ist|sind|war|waren)\s+(?:eine?|der|die|das)"
    r"|est\s+(?:une?|l[ae])|es\s+(?:una?|el|la)|è\s+(?:una?|uno|il|la)|é\s+(?:uma?|[oa]))\s)",
    re.IGNORECASE,
)
_ARTICLES: Final = r"(?:an?|the|der|die|das|eine?|une?|l[ae]|les|una?|uno|el|l[oa]s|il|uma?|os?)"
#: A sentence anywhere that begins with a name in emphasis, and goes on with what that is or does; or with one as code,
#: or one with an article, and what that is: "_Slices_ let you …", "`Pin` is a wrapper", "A pointer is a variable".
_BEGINS: Final = rf"(?:^[ \t>]*(?:[-*+][ \t]+)?|(?<=[.!?:)][ \n]))(?:{_ARTICLES}\s+)?"
_NAME: Final = r"\w(?:[^*_\"”\n.;:!?|]|\n(?=\w)){1,59}"
_STATED: Final = regex(
    rf"{_BEGINS}([*_]{{1,2}})(?P<name>{_NAME})\1(?:\s*\([^()\n]{{1,80}}\)|,[^,.\n]{{1,40}},)?\s+"
    r"(?:is|was|[a-z]{2,}s|are|were|mean|refer|denote|describe|define|let|allow|ist|sind|war|waren|bezeichne[tn]|est|sont|è|sono|é"
    r"|são)\s",
    re.MULTILINE | re.IGNORECASE,
)
_STATED_CODE: Final = regex(
    r"(?:^[ \t>]*|(?<=[.!?:)][ \n]))(?:(?:An?|The)\s+)?`(?P<name>[^`\s]{2,60})`\s+(?:is|are)\s+(?:an?|the|one)\s",
    re.MULTILINE,
)
#: The same without marks, or in quotation marks: "A "middleware" is a function", "Un conteneur est une unité".
_STATED_PLAIN: Final = regex(
    r"A(?<!\wA)n?\s[\"“]?(?P<name>[a-z][\w-]+(?:\s[a-z][\w-]+){0,2}?)[\"”]?\s+is\s+(?:an?|the|any|one|where|when)\s"
    r"|(?:E(?<!\wE)ine?|U(?<!\wU)(?:n[ea]?|ma?))\s(?:[\"“„«]\s?)?(?P<other>\w[\w-]+(?:\s\w[\w-]+){0,2}?)(?:\s?[\"”“»])?\s+"
    r"(?:ist\s+(?:eine?|der|die|das)|est\s+(?:une?|l[ae])|es\s+(?:una?|el|la)|è\s+(?:una?|il|la)|é\s+(?:uma?|[oa]))\s"
)
#: Several of them: "Spiders are classes that …".
_STATED_PLURAL: Final = regex(
    r"(?:^[ \t>]*|(?<=[.!?:)][ \n]))(?!(?:There|These|Those|Here|They|You|We|All|Both|Some|Many|Most|Any|Which|What)\b)"
    r"([A-Z][\w-]+(?:\s[a-z][\w-]+)?)\s+are\s+(?:[\w-]+\s+){1,3}?(?<!\bby\s)(?<!\bas\s)(?<!\bso\s)(?:that|which)\s",
    re.MULTILINE,
)
#: A name in emphasis or quotation marks, or one of which is said in so many words what it is: "容器是一种 …".
_STATED_EASTERN: Final = regex(
    rf"(?:^[ \t>]*|(?<=[。！？，.!?]) ?)"
    rf"(?:[*_\"“«「『]{{1,3}}(?P<marked>{_NAME})[*_\"”»」』]{{1,3}}{_ASIDE}{_IS_EASTERN}"
    rf"|(?P<name>[^\W_](?:[^\W\u3041-\u309f_]|[ ・/-]){{1,29}}?){_ASIDE}"
    r"(?:\s?(?:是一[种種個个类類]|是指|指的是|(?<!こ)とは(?![限異違別言思]))|이?란\s|\s+[-–—]\s+(?:это|це)\s))",
    re.MULTILINE | re.IGNORECASE,
)
#: One of these is in each of those.
_EASTERN: Final = ("是", "指", "は", "란 ", "은 ", "는 ", " это ", " це ")
#: What laws, contracts and policies define: "The term “System unit” means …", "“Merchant” has the meaning …".
_MEANS: Final = regex(
    r"[\"“‘]['‘]?(?P<name>\w[^\"”’\n.;:!?|]{1,59})['’]?[\"”’],?(?:\s+\([^()\n]{1,60}\))?(?:,?\s+(?:or|and)\s+[\"“‘](?P<other>\w[^\"”’\n.;:!?|]{1,59})[\"”’],?)?"
    r"(?:,[^,.;:\n]{1,80},)?\s+(?:shall\s+|will\s+)?(?:means?|ha(?:s|ve)\s+the\s+(?:same\s+)?meaning|refers?\s+to|is\s+defined|includes?)\b"
)
_MEANINGS: Final = ("mean", "refer", "defined", "include")
_TERM: Final = rf"(?:{_ARTICLES}\s+)?[*_\"“„«»]*(\w[\w-]{{0,40}}+(?:\s\w[\w-]{{0,40}}+){{0,2}}?)[*_\"”“»«]*"
#: What laws and terms of use define: "Als Werktage gelten …", "On entend par indisponibilité …".
_FORMULA: Final = regex(
    rf"\bAls\s+{_TERM}\s+(?:gilt|gelten)\s|\bUnter\s+{_TERM}\s+versteht\s"
    rf"|\b{_TERM}\s+im\s+Sinne\s+(?:dieses|dieser|des|der)\s+(?:\w+\s+){{1,2}}?(?:ist|sind)\s"
    rf"|\b[Oo]n\s+entend\s+par\s+(?:l['’])?{_TERM}[\s,]|\b[Ss]e\s+entiende\s+por\s+{_TERM}[\s,]"
    rf"|\b[Ss]i\s+intend(?:e|ono)\s+(?:per|come)\s+{_TERM}[\s,]|\b[Ee]ntende-se\s+por\s+{_TERM}[\s,]"
    rf"|\b[Oo]nder\s+{_TERM}\s+wordt\s+verstaan\b|\b[Пп]од\s+{_TERM}\s+понима(?:ется|ются)\s"
    rf"|\b[Pp]rzez\s+{_TERM}\s+(?:rozumie\s+się|należy\s+rozumieć)\s"
)
_FORMULAS: Final = (
    *("gilt", "gelten", "versteht", "im Sinne", "entend par", "entiende por", "intend", "ntende-se", "verstaan"),
    *("понима", "rozumie"),
)
_NAMING: Final = ("called", "termed", "known as", "genannt", "appelé", "llamad", "chiamat", "chamad")
#: Where a text gives a thing its name: "This is called _monomorphization_."
_NAMED: Final = regex(
    rf"(?:{'|'.join(_NAMING)})\w?\s+(?:{_ARTICLES}\s+)?"
    rf"(?:([*_]{{1,2}})(?P<name>{_NAME})\1|[\"“](?P<quoted>{_NAME})[\"”])"
)
#: What stands behind a name: its type, its value, its arguments.
_BEHIND: Final = regex(r"(?:\s*[(（=\[<{]|\s{2,}|\s*[:：]\s*\Z).*", re.DOTALL)
_MARKUP: Final = regex(r"[`*_\"“”„»«]+(?=[\w-])|(?<=\w)[`*_\"“”„»«]+(?=\W|\Z)")
_ARTICLE: Final = regex(
    r"\A(?:(?:an?|the|der|die|das|dem|den|eine?|eine[mnr]|le|la|les|une?|des|el|los|las|una?|il|lo|gli|os?|as|uma?)\s+|l['’]|un['’])",
    re.IGNORECASE,
)
_SIGNS: Final = regex(r"[\W_]+")
#: What kind of thing a question says that a name is: "the work_mem setting", "der Befehl insertFrag".
_KINDS: Final = (
    r"annotation|argument|attribute?|class|column|command|constant|decorator|directive|element|endpoint|enum|event|field"
    r"|file|flag|function|hook|interface|key|keyword|macro|method|module|operator|option|package|parameter|property"
    r"|setting|statement|struct|switch|tag|trait|type|variable|befehl|funktion|methode|einstellung|feld|datei|klasse|schalter|commande|fonction|méthode"
    r"|paramètre|champ|fichier|classe|comando|opción|función|método|parámetro|campo|archivo|clase"
)
_KIND: Final = regex(rf"(?:{_KINDS})\s+(.+)|(.+?)[\s-]+(?:{_KINDS})", re.IGNORECASE)

#: A name as only code has it: ``super_len``, ``superLen``, ``Session.send``, ``len()``.
_CODE_NAME: Final = regex(
    r"(?<![\w.])(?:\w+(?:_|::|\.|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]))\w[\w.:]*|\w+(?=\())(?:\(\))?"
)
#: A name of a header, an attribute or a field of a protocol: ``Called-Station-Id``.
_HEADER_NAME: Final = regex(r"(?<![\w.-])[A-Z][A-Za-z]*\d*(?:-[A-Z][A-Za-z]*\d*)+(?![\w-])")
_HOLDS: Final = "(?:contain|hold|store|specify|indicate|identify|control|represent|define)"
_ASKS_OF_HEADER: Final = regex(rf"\s*what (?:does|do) (.+?) {_HOLDS}\s*[?.!]*\s*", re.IGNORECASE)
#: What a question says of such a name that asks for its definition, too.
_ASKS_OF_CODE: Final = regex(
    rf"\s*(?:what (?:does|do) (.+?) (?:return|raise|throw|take|accept|{_HOLDS})"
    r"|how (?:does|do|is|are) (.+?) (?:work|implemented))\s*[?.!]*\s*",
    re.IGNORECASE,
)
#: Where a question says that something is: "a slice in Rust", "Transaction in helix-core".
_PLACE: Final = regex(
    r"\s+(?:in|within|inside|im|en|dans|em|na|no|nel|nella)\s+(?:(?:the|der|dem|la|le|el|los|il|lo)\s+)?"
    r"\S+(?:\s\S+){0,2}?(?=[\s?.!]*\Z)",
    re.IGNORECASE,
)
_QUOTES: Final = " \t?？؟!\"'“”„«»`*_"
_ASKS: Final = regex(
    r"\s*(?:"
    r"what(?:['’]s| is| are| was| were)(?: meant by| the (?:meaning|definition|purpose) of)? (.+?)(?: (?:used )?for)?"
    r"|what (?:does|do) (.+?) (?:do|mean|stand for)"
    r"|where (?:is|are) (.+?) (?:defined|declared|implemented)|(?:define|(?:the )?(?:definition|meaning) of) (.+?)"
    r"|(?:was (?:ist|sind|bedeute[tn]?|mach(?:t|en)|tut|heißt|versteht man unter)"
    r"|wo(?:zu|für) (?:dient|dienen|steht)) (.+?)"
    r"|qu['’]est[ -]ce qu(?:e (?:c['’]est qu(?:e |['’]))?|['’])(.+?)"
    r"|(?:que (?:fait|font|signifie|veut dire)|qu['’]entend-on par|c['’]est quoi|[àa] quoi (?:sert|servent)) (.+?)"
    r"|¿?(?:qu[ée] (?:es|son|hace|significa|quiere decir|se entiende por)|para qu[ée] sirven?) (.+?)"
    r"|(?:(?:che )?cos['’][èe]|(?:che )?cosa (?:è|fa|significa|vuol dire|si intende per)|a (?:che )?cosa serve) (.+?)"
    r"|(?:o que (?:é|são|faz|significa|quer dizer|se entende por)|para que serve) (.+?)"
    r"|wat (?:is|zijn|doet|betekent) (.+?)|(?:vad|hvad|hva) (?:är|er|betyder) (.+?)"
    r"|(?:co to (?:jest |są )?|czym (?:jest|są) |co (?:robi|oznacza) )(.+?)"
    r"|что (?:такое|делает|значит|означает|понимают под) (.+?)|що (?:таке|робить|означає) (.+?)"
    r"|ما (?:هو|هي|هم|معنى) (.+?)|(?:מה זה|מהו|מהי|מהם|מהן) (.+?)"
    r"|(.+?) (?:nedir|ne demek(?:tir)?|ne işe yarar)|(.+?) क्या (?:है|हैं|होता है|होती है|होते हैं)"
    r"|(?:什[么麼][是叫]|何[谓謂])(.+?)"
    r"|(.+?)\s*(?:(?:到底|究竟)?是什[么麼](?:意思|东西|東西)?|指的是什[么麼]|的(?:含义|含義|意思|定义|定義)(?:是什[么麼])?|有什[么麼](?:作用|用处|用))"
    r"|(.+?)\s*(?:とは(?:何(?:のこと)?(?:ですか|でしょうか|か)?|どういう(?:意味|もの|こと)(?:ですか|か)?)?"
    r"|の意味(?:は(?:何(?:ですか|か)?)?)?"
    r"|は何(?:ですか|でしょうか|をしますか)|って(?:何|なに)(?:ですか)?)"
    r"|(.+?)(?:이란|란|은|는|이|가)?\s*(?:무엇(?:인가요?|입니까|이에요|을 (?:의미|뜻)하나요)|뭐(?:예요|에요|야)|뭔가요"
    r"|무슨 뜻(?:인가요|입니까|이에요))|(.+?)(?:이란|란)|(.+?)의 (?:뜻|의미|정의)(?:은|는)?"
    r")\s*[?？؟。.!]*\s*",
    re.IGNORECASE,
)


def defined_words(content: str, *about: str) -> list[str]:
    """Return an index word for each thing that a passage defines, each once and in order.

    Args:
        content: The text of a chunk, in Markdown.
        *about: The heading above it, or else the title of its document; or several names that it may be about.
    """
    words = dict.fromkeys(_explained(content, about))
    words |= dict.fromkeys(word for name in _stated(content) if (word := definition_word(_bare(name))))
    if any(sign in content for sign in _DEFINING):
        words |= dict.fromkeys(word for name in _names(content) if (word := definition_word(name)))
    return list(words)[:_MOST_NAMES]


def asked_words(query: str) -> list[str]:
    """Return the index words of what a question wants defined, or of a query that is only a name.

    Several where it says what kind of thing that is, or where: a text may call it so, too, or not. None if it is no
    such question.

    Example:
        >>> asked_words("What does the work_mem setting do?")[1] == asked_words("work_mem")[0]
        True
        >>> asked_words("a query of many other words")
        []
    """
    names = asked_names(query)
    if not names:
        name = _bare(query.strip(_QUOTES).rstrip("."))
        names = [name] if name.count(" ") < _MOST_WORDS - 2 and len(query) <= 4 * _LONGEST_NAME else []
    return list(dict.fromkeys(word for one in names if (word := definition_word(one))))


def asked_names(question: str) -> list[str]:
    """Return the names by which a text may define what a question wants defined; none if it is no such question.

    Example:
        >>> asked_names("What is the work_mem setting in PostgreSQL?")
        ['work_mem setting in PostgreSQL', 'work_mem setting', 'work_mem']
    """
    asked = asked_name(question.strip())
    names = []
    for whole in (asked, _PLACE.sub("", asked)):
        name = _bare(whole.strip(_QUOTES).rstrip("."))
        if name and name.count(" ") < _MOST_WORDS:
            kind = _KIND.fullmatch(name)
            names += [name, *(_bare(part) for part in (kind.groups() if kind is not None else ()) if part)]
    return list(dict.fromkeys(names))


def asked_name(question: str) -> str:
    """Return what a question wants defined, in its words, with where it is; empty if it is no such question.

    Example:
        >>> asked_name("What does work_mem mean in PostgreSQL?")
        'work_mem in PostgreSQL'
    """
    if len(question) > 4 * _LONGEST_NAME:
        return ""
    forms = [(question, "")]
    if (place := _PLACE.search(question)) is not None:
        forms.append((question[: place.start()] + question[place.end() :], place[0]))
    for asked, of_place in forms:
        asks = _ASKS.fullmatch(asked)
        if asks is None and _CODE_NAME.search(question) is not None:
            asks = _ASKS_OF_CODE.fullmatch(asked)
        if asks is None and _HEADER_NAME.search(question) is not None:
            asks = _ASKS_OF_HEADER.fullmatch(asked)
        if name := next((part for part in asks.groups() if part), "") if asks else "":
            return (name + of_place).rstrip(" \t?.!")
    return ""


def _explained(content: str, about: Iterable[str]) -> Iterator[str]:
    """Yield a word for each heading that asks what something is, or whose section begins with that."""
    sections = [(name, 0) for name in about]
    if "#" in content:
        sections += ((match[1], match.end()) for match in _HEADING.finditer(content))
    for name, start in sections:
        if asked_name(name):
            yield from asked_words(name)[:1]
        elif name.endswith(("?", "？", "؟")):
            continue
        elif said := _IS.match(content, start):
            what = _bare(said[1])
            # A name of its own (Ada Vane) is a title, by which the graph finds its passages anyway.
            is_own = any(part[0].isupper() for part in what.split()[1:])
            if (
                not is_own
                and (word := definition_word(what))
                and (word == definition_word(_bare(name)) or _has_name(name, what))
            ):
                yield word


def _has_name(heading: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", heading, re.IGNORECASE) is not None


def _stated(content: str) -> Iterator[str]:
    """Yield what sentences anywhere say to be something, and what they give a name."""
    if "*" in content or "_" in content:
        yield from (match["name"] for match in _STATED.finditer(content))
    if "`" in content:
        yield from (match["name"] for match in _STATED_CODE.finditer(content))
    yield from (match["name"] or match["other"] for match in _STATED_PLAIN.finditer(content))
    if " are " in content:
        yield from (match[1] for match in _STATED_PLURAL.finditer(content))
    if any(sign in content for sign in _EASTERN):
        yield from (match["marked"] or match["name"] for match in _STATED_EASTERN.finditer(content))
    if any(formula in content for formula in _FORMULAS):
        yield from (match[match.lastindex or 0] for match in _FORMULA.finditer(content))
    if any(meaning in content for meaning in _MEANINGS):
        yield from (name for match in _MEANS.finditer(content) for name in match.groups() if name)
    if any(naming in content for naming in _NAMING):
        yield from (match["name"] or match["quoted"] for match in _NAMED.finditer(content))


def _bare(name: str) -> str:
    """Return a name without quotation marks, emphasis and article."""
    return _ARTICLE.sub("", name.strip(_QUOTES), count=1)


def _names(content: str) -> Iterator[str]:
    if match := _MANUAL.match(content):
        yield from match[1].split(", ")
    for match in _LISTED.finditer(content):
        before = content[max(0, match.start() - _LONGEST_TERMS) : match.start()].split("\n")
        for line in reversed(before[-_MOST_TERMS:]):
            if not (line := line.strip()) or line.startswith(": "):
                break
            yield from (_MARKUP.sub("", name.strip()) for name in line.split(", "))
    for match in _MARKED.finditer(content):
        yield match[1] or match[2]
    if "|" in content:
        yield from (match[1] for match in _ROW.finditer(content))


def definition_word(name: str) -> str | None:
    """Return the index word of a name: the same for all spellings that differ by case, signs and a plural s.

    Of one letter or two, signs make a difference: C, C++ and the option -c.
    """
    name = _BEHIND.sub("", name.strip()).strip()
    if not name or len(name) > _LONGEST_NAME or name.count(" ") >= _MOST_WORDS:
        return None
    key = _SIGNS.sub("", name.casefold())
    if not key or key.isdigit():
        return None
    if len(key) < _LONG_ENOUGH:
        key = name.casefold()
    elif len(key) > _LONG_ENOUGH and key.isascii():
        key = key.removesuffix("s")
    return "def" + hashlib.blake2b(key.encode(), digest_size=8).hexdigest()
