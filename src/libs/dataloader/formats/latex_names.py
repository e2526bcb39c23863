"""Which commands and environments of LaTeX are known, and what they stand for."""

from __future__ import annotations

from libs.regexes import regex

#: Levels of headings.
LEVELS = {
    "part": 1,
    "chapter": 1,
    "section": 2,
    "subsection": 3,
    "subsubsection": 4,
    "paragraph": 5,
    "subparagraph": 6,
}
CODE = frozenset(("verbatim", "Verbatim", "lstlisting", "minted", "alltt", "Highlighting"))
MATH = frozenset("equation align gather multline eqnarray displaymath math alignat flalign".split())
NOT_SHOWN = frozenset(("comment", "tikzpicture", "picture", "filecontents", "pgfpicture"))
LISTS = frozenset(("itemize", "enumerate", "description"))
#: By the number of arguments.
TABLES = {"tabular": 1, "tabularx": 2, "tabulary": 2, "longtable": 1, "array": 1}
#: Of others that have some.
ENVIRONMENT_ARGUMENTS = {"minipage": 1, "multicols": 1, "wrapfigure": 2, "thebibliography": 1, "column": 1}
STATEMENTS = frozenset(
    "theorem lemma proof definition corollary proposition remark example exercise conjecture claim".split()
)
#: What shows nothing, by the number of arguments.
DROPPED = {
    name: arguments
    for arguments, names in (
        (1, "label vspace hspace includegraphics usepackage RequirePackage documentclass bibliographystyle"),
        (1, "pagestyle thispagestyle pagenumbering index color textcolor hypersetup cline cmidrule graphicspath newif"),
        (1, "texorpdfstring captionsetup geometry addbibresource usetheme usetikzlibrary hyphenation bibliography"),
        (2, "newcommand renewcommand providecommand def gdef let setlength setcounter addtocounter rule markboth"),
        (2, "DeclareMathOperator newtheorem multirow fontsize"),
        (3, "addcontentsline newenvironment renewenvironment NewDocumentCommand RenewDocumentCommand"),
    )
    for name in names.split()
}
MOST_DROPPED = max(DROPPED.values())
_ALL = MOST_DROPPED + 6
#: What many call a command of their own for entries of an index.
_OF_INDEX = regex(r"index\w+|\w+index|idx\w+")
REFERENCES = regex(r"(?:[Cc]ite|autocite|parencite|textcite|footcite|nocite)\w*|(?:eq|auto|page|name|[cC])?ref")
# fmt: off
WORDS = {
    "ldots": "…", "dots": "…", "LaTeX": "LaTeX", "TeX": "TeX", "quad": " ", "qquad": " ", "newline": "\n",
    "par": "\n\n", "ss": "ß", "ae": "æ", "oe": "œ", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "aa": "å", "AA": "Å",
    "AE": "Æ", "OE": "Œ", "i": "i", "j": "j", "S": "§", "and": "; ", "copyright": "©", "pounds": "£", "euro": "€",
    "texteuro": "€", "textasciitilde": "~", "textendash": "–", "textemdash": "—", "textdegree": "°",
    "textbackslash": "\\", "textquotesingle": "'", "textgreater": ">", "textless": "<", "textbar": "|",
    "textasciicircum": "^", "textasciigrave": "`", "textunderscore": "_", "textbullet": "•", "textdollar": "$",
    "textbraceleft": "{", "textbraceright": "}", "textellipsis": "…", "textquoteleft": "‘", "textquoteright": "’",
    "textquotedblleft": "“", "textquotedblright": "”", "textregistered": "®", "texttrademark": "™", "textmu": "µ",
    "textperiodcentered": "·", "textonehalf": "½", "slash": "/", "dag": "†", "ddag": "‡", "P": "¶", "checkmark": "✓"
}
# fmt: on
SIGNS = {"---": "—", "--": "–", "``": "“", "''": "”", "~": " "}
ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307"}
LETTER_ACCENTS = {"c": "\u0327", "v": "\u030c", "u": "\u0306", "H": "\u030b", "k": "\u0328", "r": "\u030a"}


def arguments_dropped(name: str) -> int | None:
    """Return how many arguments of a command are not shown: above :data:`MOST_DROPPED` if none is, else ``None``."""
    return DROPPED.get(name, _ALL if _OF_INDEX.fullmatch(name) else None)
