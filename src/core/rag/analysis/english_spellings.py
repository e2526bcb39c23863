"""English words that are spelled in two ways: a question about "colors" finds "colours"."""

from __future__ import annotations

from typing import Final

from libs.regexes import regex

#: Beginnings of words, and how others spell them. Behind a few of them only an ending may stand.
_BEGINNINGS: Final = {
    "grey": "gray", "tyre": "tire", "plough": "plow", "mould": "mold", "smoulder": "smolder", "draught": "draft",
    "sulph": "sulf", "sceptic": "skeptic", "aluminium": "aluminum", "artefact": "artifact",
    "moustache": "mustache", "aeroplane": "airplane", "speciality": "specialty", "mediaeval": "medieval",
    "judgement": "judgment", "acknowledgement": "acknowledgment", "defence": "defense", "offence": "offense",
    "pretence": "pretense", "licence": "license", "practis": "practic", "skilful": "skillful", "wilful": "willful",
    "jewellery": "jewelry", "marvellous": "marvelous", "counsellor": "counselor", "chilli": "chili",
    r"manoeuvre(?=s?\Z)": "maneuver", "manoeuvr(?=ed|ing|ab)": "maneuver",
    "yoghurt": "yogurt", "pyjama": "pajama", "cos(?=y|i(?:er|est|ly|ness))": "coz", "woollen": "woolen",
    "homoeopath": "homeopath", "councillor": "councilor", "panellist": "panelist", r"disc(?=s?\Z)": "disk",
    r"fulfil(?=s?\Z|ment)": "fulfill", r"enrol(?=s?\Z|ment)": "enroll", r"instal(?=s?\Z|ment)": "install",
    "archaeo": "archeo", "palaeo": "paleo", "gynaeco": "gyneco", "paed": "ped", "orthopaed": "orthoped",
    "encyclopaed": "encycloped", "anaesth": "anesth", "faec": "fec", "aetiolog": "etiolog", "foet": "fet",
    "oesoph": "esoph", "oestr": "estr", "oedem": "edem", "coeliac": "celiac",
    "apnoe": "apne", "dyspnoe": "dyspne",
}  # fmt: skip
_BEGINNING: Final = regex("|".join(f"({beginning})" for beginning in _BEGINNINGS))
_OTHERS: Final = ("", *_BEGINNINGS.values())
#: Words in -our have -or in American English, with whatever stands behind ("behavioural").
_OUR: Final = (
    "arb|ard|arm|behavi|cand|clam|col|demean|enam|endeav|fav|ferv|flav|glam|harb|hon|hum|lab|neighb|od|parl|ranc|rig"
    "|rum|sav|savi|splend|succ|tum|val|vap|vig"
)
#: Words in -ise that have an s everywhere. So have those with a vowel before it ("noise", "cruise").
_WITH_S: Final = (
    "adv|advert|appr|chast|circumc|compr|comprom|conc|dem|desp|dev|enfranch|enterpr|exc|exerc|expert|franch"
    "|improv|inc|merchand|parad|prec|prem|prom|repr|rev|superv|surm|surpr|telev|treat"
)
#: What the parts of words that are spelled in two ways have in common, which part that is, and how others spell it: as
#: in American English, but for -yse, as "analysis" has an s everywhere.
_PARTS: Final = (
    ("our", regex(rf"\A((?:be|dis|mis|multi|techni|tri|un|water)?(?:{_OUR}))our"), r"\1or"),
    (
        "is",
        regex(
            rf"\A(?!(?:{_WITH_S})is)(\w{{2,}}[^\W\d_aeiouw])is"
            r"(?=(?:e[ds]?|ers?|ing(?:ly)?|ab(?:le|ly|ility)|ation(?:s|al)?)\Z)"
        ),
        r"\1iz",
    ),
    ("lyz", regex(r"(anal|breathal|catal|dial|electrol|hydrol|paral)yz(?=(?:e[ds]?|ers?|ing)\Z)"), r"\1ys"),
    (
        "re",
        regex(r"(cent|theat|met|lit|calib|fib|goit|lust|meag|sab|scept|somb|spect)re(?=s?\Z|glass|goer|piece)"),
        r"\1er",
    ),
    ("ntr", regex(r"\Acentr(?=(?:ed|ing)\Z)"), "center"),
    ("logu", regex(r"\A(anal|catal|dial|homol)ogu(?:e(?=s?\Z)|(?=(?:ed|ers?|ing)\Z))"), r"\1og"),
    ("gramme", regex(r"gramme(?=s?\Z)"), "gram"),
    ("rrhoe", regex("rrhoe"), "rrhe"),
    ("aem", regex(r"(?<=h)aem|aem(?=i)"), "em"),
)


def one_spelling(word: str) -> str:
    """Return how an English word is spelled here, of the two ways in which others may spell it.

    Args:
        word: In lower case.

    Example:
        >>> one_spelling("colours"), one_spelling("organised"), one_spelling("advised"), one_spelling("analyzing")
        ('colors', 'organized', 'advised', 'analysing')
    """
    if begins := _BEGINNING.match(word):
        word = f"{_OTHERS[begins.lastindex or 0]}{word[begins.end() :]}"
    for common, part, other in _PARTS:
        if common in word:
            word = part.sub(other, word)
    return word
