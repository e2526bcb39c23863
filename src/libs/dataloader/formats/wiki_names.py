"""Templates of MediaWiki by their names, as the wikis of Wikimedia and those that copied them have them."""

from __future__ import annotations

import re
from typing import Final

from libs.regexes import regex


def _names(names: str) -> frozenset[str]:
    return frozenset(" ".join(names.split()).split("|"))


REFERENCES: Final = _names("reflist|references|einzelnachweise|références|listaref|notelist")
NOTES: Final = _names("efn|refn|footnote|efn-la|efn-ua")
#: Notes to editors, ways to move about, places on maps, and what only programs read.
SILENT: Final = _names(
    """citation needed|cn|fact|clarify|when|who|which|by whom|dubious|update|unreferenced|refimprove
    |more citations needed|multiple issues|use dmy dates|use mdy dates|use british english|use american english
    |short description
    |authority control|normdaten|coord|coordinates|geobox|portal|commons|commons category|wiktionary|wikiquote
    |good article|featured article|pp|protected|stub|clear|-|toc|toc limit|toc right|tocright|sfn|sfnp|harvnb|harv|rp|r
    |sister project links|subject bar|dynamic list|italic title|engvarb|cleanup|orphan|notability|expand|expand section
    |primary sources|delete|merge|move|split|anchor|dead link|webarchive|better source needed|verify source
    |failed verification|page needed|full citation needed|cite check|refbegin|refend|div col|div col end|col div end
    |col-begin|col-end|col-2|col-3|col-4|col-break|end|s-start|s-end|about|for|other uses|redirect|distinguish
    |hatnote group|flagicon|ipa|pronunciation|audio|listen|multiple image|wide image|css image crop|external media"""
)
#: What each stands for.
SIGNS: Final = {
    **dict.fromkeys(("ndash", "snd", "spnd", "spaced ndash", "en dash"), " – "),
    **dict.fromkeys(("mdash", "em dash", "spaced mdash"), " — "),
    **dict.fromkeys(("!", "pipe"), "|"),
    **dict.fromkeys(("nbsp", "space", "sp", "thinsp", "zwsp"), " "),
    **dict.fromkeys(("*", "·", "•", "dot", "bullet", "middot"), " · "),
    **dict.fromkeys(("yes", "y", "tick", "ya", "aye"), "yes"),
    **dict.fromkeys(("no", "n", "cross", "nay"), "no"),
    **dict.fromkeys(("na", "n/a"), "n/a"),
    "=": "=",
    "'": "'",
    "'s": "'s",
    "!!": "||",
    "((": "{{",
    "))": "}}",
}
#: Templates whose last value is shown, those with a first one that is, and those with a number and its unit.
LAST: Final = _names("lang|transl|transliteration|langx|color|colour|font color|fontcolor|font|script|hs|sort")
FIRST: Final = _names(
    """ill|interlanguage link|abbr|tooltip|abbrlink|url|official url|flag|flagu|flagcountry|nowrap|nobold|small|smaller
    |big|larger|center|dfn|nobr|native name|formatnum|official website|sic|visible anchor"""
)
MEASURES: Final = _names("convert|cvt|val|unité|unite|unit|ren")
DATES: Final = _names(
    """birth date|birth date and age|death date|death date and age|start date|start date and age|end date|dob|bda
    |film date|birth-date|death-date|release date|launch date|date"""
)
LISTS: Final = _names(
    "unbulleted list|ubl|ubil|plainlist|flatlist|hlist|bulleted list|ordered list|collapsible list|flat list"
)
CODES: Final = _names(
    "code|ic|mono|tt|kbd|key|var|samp|codes|inline code|js|tag|tlx|tl|pre|bc|hc|box|codenowiki|cmd|path"
)
LINKS: Final = {
    **dict.fromkeys(("main", "main article", "hauptartikel", "article détaillé"), "Main article"),
    **dict.fromkeys(("see also", "siehe auch", "voir aussi", "see", "further", "further information"), "See also"),
}
SOURCE = regex(r"(?:cite|citation|literatur|internetquelle|ouvrage|article|lien web|cita|citar|cytuj)\b")
#: Names of values that say how something looks, or are for programs.
FOR_LOOKS = regex(
    r"(?:image|img|logo|photo|picture|map|flag|seal|cover|icon|signature|coat|screenshot|banner|file|bild|wappen|karte)"
    r"(?:[ _-]?(?:\w+[ _-]?)?(?:size|width|upright|alt|file|name|map|image|flag|seal|link))?\d?"
    r"|.*\b(?:image|map)\b(?!.*caption).*"
    r"|(?:title|head|header|body|above|below|row|col|cell|label|data|list|text|table|box|caption|font|bg|background)"
    r"[ _-]?(?:style|colou?r|class|align|width|height|size|bg)\d?|(?:background|border|padding|align|alt|zoom|width)\d?"
    r"|latd|latm|lats|latns|longd|longm|longs|longew|pushpin.*|module\d?|embed|child|mapframe.*|access-?date"
    r"|url-status|archive-?(?:url|date)|df|mf|bot|date|reason|templatestyles|italic.*|show.*|hide.*|state|collapsed?"
)
#: Values that do so.
LOOK = regex(r"#[0-9A-Fa-f]{3,8}|\d+\s*(?:px|em|%)|left|right|center|centre", re.IGNORECASE)
AUTHORS: Final = ("author", "author1", "autor", "auteur", "vauthors")
SURNAMES: Final = ("last", "last1", "nachname", "nom")
GIVEN: Final = ("first", "first1", "vorname", "prénom")
TITLES: Final = ("title", "titel", "titre", "título", "chapter")
WHERE: Final = tuple("work website journal newspaper magazine series publisher werk hrsg éditeur".split())
WHEN: Final = ("date", "year", "datum", "jahr", "année")
#: In a template with one value, what says it.
TELLING: Final = ("text", "content", "quote", "title", "name", "label", "caption", "message")
