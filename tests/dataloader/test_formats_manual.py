"""Manual pages: macros that :mod:`test_formats_text` does not show."""

from __future__ import annotations

from filetools import URI, convert, targets

PAGE = r"""
.TH FROB 1
.SH OPTIONS
.TP
\-v
Say more.
.TP
\fB\-o\fR \fIfile\fR
Write there.
.br
Nothing else.
.IP first 4
One.
.IP "" 4
\[u00E9]t\[u00E9]
.so man1/other.1
"""


def test_tags_that_are_plain_lines_and_breaks_and_included_pages() -> None:
    document = convert("frob.1", PAGE)
    assert document.content == (
        "# frob(1)\n\n## OPTIONS\n\n-v\n: Say more.\n\n-o file\n: Write there.\nNothing else.\n\nfirst\n: One.\n\nété\n"
    )
    assert targets(document) == [f"{URI}man1/other.1"]


MDOC = r"""
.Dd October 4, 2023
.Dt FROB 3
.Os
.Sh NAME
.Nm frob
.Nd frobnicate
.Sh RETURN VALUES
.Rv -std
.Pp
.Rv -std open
.Ss Authors
The user Ns
.Ap s
file of
.An -split
.An Ann Lee
on
.Fx 13.2 ,
.At v7
and
.Ux .
.Pf ( Ar file )
and
.Fn frob "int a" b .
.St -p1003.1-2008
says so, as
.Ar [ file ]
.Li words \" not shown
.Bd -filled
A paragraph.
.Ed
.Bl -hang
.It Fl a
.It Fl b
Both.
.El
"""


def test_macros_of_bsd_in_words() -> None:
    std = "otherwise -1 is returned, and errno is set to indicate the error."
    assert convert("frob.3", MDOC).content == (
        "# frob(3)\n\n## NAME\n\nfrob - frobnicate\n\n## RETURN VALUES\n\n"
        f"On success, frob() returns 0; {std}\n\nOn success, open() returns 0; {std}\n\n"
        "### Authors\n\nThe user Ns's file of Ann Lee on FreeBSD 13.2, AT&T UNIX v7 and UNIX. (file) and"
        " frob(int a, b). p1003.1-2008 says so, as [file] words\n\nA paragraph.\n\n-a\n\n-b\n: Both.\n"
    )
