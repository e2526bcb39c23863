"""What programs add to the text of a message: signatures of PGP, footers of mailing lists, notes of their archives."""

from __future__ import annotations

from libs.regexes import regex

_MULTILINE = 8
#: Before each line of a quotation.
_QUOTE = r"(?:[ \t]?>)*[ \t]?"
_SIGNED = regex(rf"^{_QUOTE}-----BEGIN PGP SIGNED MESSAGE-----[ \t]*\n(?:{_QUOTE}Hash: [^\n]*\n)?", _MULTILINE)
_SIGNATURE = regex(
    rf"^{_QUOTE}-----BEGIN PGP SIGNATURE-----[ \t]*\n(?:[^\n]*\n){{1,60}}?{_QUOTE}-----END PGP SIGNATURE-----[ \t]*$",
    _MULTILINE,
)
#: PGP writes a dash more before lines that begin with one.
_ESCAPED = regex(rf"^({_QUOTE})- (?=-)", _MULTILINE)
#: Mailman's: a line, the name of the list, its address, and where to leave it.
_FOOTER = regex(
    rf"^{_QUOTE}_{{30,}}[ \t]*\n{_QUOTE}[^\n]{{1,100}} mailing list[^\n]{{0,100}}\n"
    rf"(?:{_QUOTE}[^\n]{{1,100}}(?:@| at )[^\n]{{1,100}}\n)?{_QUOTE}(?:To unsubscribe[^\n]*|https?://\S+)[ \t]*$",
    _MULTILINE,
)
#: What its archives have instead of the same text as HTML.
_SCRUBBED = regex(
    r"^-{10,} next part -{10,}[ \t]*\nAn HTML attachment was scrubbed\.{3}[ \t]*\nURL: \S+[ \t]*$", _MULTILINE
)


def without_marks_of_mail(text: str) -> str:
    """Return the text of a message without what is said in very many of them, and is no part of any."""
    if "-----BEGIN PGP " in text:
        signed = _SIGNED.sub("", _SIGNATURE.sub("", text))
        text = _ESCAPED.sub(r"\1", signed) if signed != text else text
    return _SCRUBBED.sub("", _FOOTER.sub("", text)).strip()
