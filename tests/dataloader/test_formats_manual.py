"""Manual pages, in the macros of man and in those of BSD (mdoc)."""

from __future__ import annotations

import pytest

from tests.dataloader.filetools import URI, convert, targets

PAGE = r"""'\" t
.\" A comment
.TH FROB 1 "2024-01-01" "frob 1.0" "User Commands"
.de Sp
.sp 1
..
.if n \{\
.ad l
.\}
.SH NAME
frob \- frobnicate files
.SH SYNOPSIS
.B frob
[\fB\-v\fR] [\fB\-o\fR \fIFILE\fR]
.IR file ...
.SH
DESCRIPTION
.PP
Frob reads \fIfile\fP \(em and
.BR ls (1)
shows it.\" not shown
.OP \-q quiet
.TP
.BR \-v ", " \-\-verbose
Say
more.
.IP \(bu 2
A point
.nf
  $ frob \e
.BI "int f(int " a ", \
int " b );
.fi
.SS Exit status
.TS
tab(:) box;
l l.
Code:Meaning
_
0:T{
Well
done,
.BR frob ()
.br
T}
.TE
.SH "SEE ALSO"
.UR https://example.org/x
the site
.UE .
"""


@pytest.mark.parametrize("name", ["frob.1", "frob.3pm", "frob"])
def test_manual_page(name: str) -> None:
    document = convert(name, PAGE)
    assert document.content == (
        "# frob(1) - frobnicate files\n\n## NAME\n\nfrob - frobnicate files\n\n## SYNOPSIS\n\n"
        "frob [-v] [-o FILE] file...\n\n## DESCRIPTION\n\n"
        "Frob reads file — and ls(1) shows it. -q quiet\n\n-v, --verbose\n: Say more.\n\n- A point\n\n"
        "```\n  $ frob \\\nint f(int a, int b);\n```\n\n### Exit status\n\n"
        "| Code | Meaning |\n| --- | --- |\n| 0 | Well done, frob() |\n\n## SEE ALSO\n\nthe site\n"
    )
    assert (document.title, document.format, document.mime_type) == (
        "frob(1) - frobnicate files",
        "markdown",
        "text/troff",
    )
    assert document.metadata == {"created": "2024-01-01"}
    assert targets(document) == ["https://example.org/x"]


POD2MAN = r"""
.de Sp \" Vertical space
.if t .sp .5v
..
.ie n \{\
.    ds -- -
'br\}
.el\{\
.    ds PI p
'br\}
"""
IGNORED = r"""
.ig \"  -*- nroff -*-
Copyright of somebody
..
"""
RST2MAN = r"""
.de1 INDENT
level margin:
..
""" + ('.\\" A comment\n' * 500)


OWN_MACROS = """
.PU
.Id $Id: frob.1,v 1.1 1999/07/19 01:49:33 cvs Exp $
"""


@pytest.mark.parametrize("before", [POD2MAN, IGNORED, RST2MAN, OWN_MACROS])
def test_definitions_before_the_title_of_a_manual_page_are_not_text(before: str) -> None:
    page = before + ".TH FROB 1\n.SH NAME\nfrob\n.INDENT 0.0\n.TP\n.B \\-a\nAll.\n.UNINDENT\n"
    for name in ("frob.1", "frob"):
        assert convert(name, page.lstrip()).content == "# frob(1)\n\n## NAME\n\nfrob\n\n-a\n: All.\n"


MDOC = r"""
.\" A comment
.Dd $Mdocdate: October 4 2023 $
.Dt FROB 1
.Os
.Sh NAME
.Nm frob
.Nd frobnicate
.Dq things ,
quickly
.Sh SYNOPSIS
.In frob.h
.Nm
.Op Fl v | Fl -verbose
.Oo Fl o Ar file Oc Ns Ar \&...
.Bk -words
.Op Fl e Ns = Ns Ar x
.Ek
.Nm frobd
.Ar
.Ft int
.Fo frob
.Fa "const char *name"
.Fa "int count"
.Fc
.Sh DESCRIPTION
.Nm
reads
.Pa /etc/frob.conf
.Pq see Xr frob.conf 5 .
The sign
.Ql \&.
ends it,
.Em \&Ns
is a word.
.Pp
.Bl -tag -width Ds -compact
.It Fl v , Fl -verbose
Say more.
.Pp
And more.
.It Xo
.Fl o
.Ar file
.Xc
Write:
.Bl -bullet
.It
One
thing
.It
Two
.El
.El
.Bd -literal -offset indent
$ frob -v   x
.Cm end
.Ed
.Bl -column "Name" "Meaning"
.It Sy Code Ta Sy Meaning
.It 0 Ta well
done
.El
.Dl frob \-o y
.Sh SEE ALSO
.Lk https://example.org/x "the site" ,
.Bx 4.4
.Rs
.%A B. Somebody
.%T On Frobs
.Re
.Ex -std
"""


@pytest.mark.parametrize("name", ["frob.1", "frob"])
def test_manual_page_of_bsd(name: str) -> None:
    document = convert(name, MDOC)
    assert document.content == (
        "# frob(1) - frobnicate “things”, quickly\n\n## NAME\n\nfrob - frobnicate “things”, quickly\n\n## SYNOPSIS\n\n"
        "#include <frob.h>\nfrob [-v | --verbose] [-o file]... [-e=x]\nfrobd file ...\n"
        "int frob(const char *name, int count)\n\n"
        "## DESCRIPTION\n\nfrob reads /etc/frob.conf (see frob.conf(5)). The sign ‘.’ ends it, Ns is a word.\n\n"
        "-v, --verbose\n: Say more.\n\nAnd more.\n\n-o file\n: Write:\n\n- One thing\n- Two\n\n"
        "```\n$ frob -v   x\nend\n```\n\n"
        "| Code | Meaning |\n| --- | --- |\n| 0 | well done |\n\n```\nfrob -o y\n```\n\n"
        "## SEE ALSO\n\nthe site: https://example.org/x, 4.4BSD\nB. Somebody, “On Frobs”."
        " The frob utility exits 0 on success, and >0 if an error occurs.\n"
    )
    assert (document.title, document.format, document.mime_type) == (
        "frob(1) - frobnicate “things”, quickly",
        "markdown",
        "text/troff",
    )
    assert document.metadata == {"created": "2023-10-04"}
    assert targets(document) == ["https://example.org/x"]


def test_what_only_ends_like_a_manual_page_is_text() -> None:
    assert convert("server.log.1", "Started\n.SH\n").content == "Started\n.SH\n"


TAGS = r"""
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
    document = convert("frob.1", TAGS)
    assert document.content == (
        "# frob(1)\n\n## OPTIONS\n\n-v\n: Say more.\n\n-o file\n: Write there.\nNothing else.\n\nfirst\n: One.\n\nété\n"
    )
    assert targets(document) == [f"{URI}man1/other.1"]


WORDS = r"""
.Dd October 4, 2023
.Dt FROB 3
.Os
.Sh NAME
.Nm frob
.Nd frobnicate
.Sh RETURN VALUES
.Rv -std
.Pp
.Rv -std open close
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
    assert convert("frob.3", WORDS).content == (
        "# frob(3) - frobnicate\n\n## NAME\n\nfrob - frobnicate\n\n## RETURN VALUES\n\n"
        f"On success, frob() returns 0; {std}\n\nOn success, open() and close() return 0; {std}\n\n"
        "### Authors\n\nThe user Ns's file of Ann Lee on FreeBSD 13.2, AT&T UNIX v7 and UNIX. (file) and"
        " frob(int a, b). p1003.1-2008 says so, as [file] words\n\nA paragraph.\n\n-a\n\n-b\n: Both.\n"
    )


OPEN = r"""
.TH FROB 3
.SH SYNOPSIS
.nf
int
.BI frob( "int a" )
.SH DESCRIPTION
Frobs
it.
"""


def test_code_that_is_not_closed_ends_at_the_next_heading() -> None:
    text = "# frob(3)\n\n## SYNOPSIS\n\n```\nint\nfrob(int a)\n```\n\n## DESCRIPTION\n\nFrobs it.\n"
    assert convert("frob.3", OPEN).content == text


OWN = r"""
.TH Tcl_Frob 3 8.0 Tcl "Tcl Library"
.de AS
.nr )A 10n
.if !"\\$1"" .nr )A \\w'\\$1'u+3n
..
.de AP
.ie !"\\$4"" .TP \\$4
.el          .TP 15
\&\\$1 \\fI\\$2\\fP (\\$3)
..
.de CS
.RS
.nf
..
.de CE
.fi
.RE
..
.de MT
.QW ""
..
.SH ARGUMENTS
.AS Tcl_Interp in/out
.AP "const char" *name in
What to frob,
.MT
by name.
.AP int n in
How often.
.CS
frob "a"
.CE
Done.
"""


def test_what_a_page_defines_says_what_it_is_given_where_it_shows_it() -> None:
    assert convert("frob.3", OWN).content == (
        "# tcl_frob(3)\n\n## ARGUMENTS\n\nconst char *name in What to frob, by name.\n\n"
        'int n in How often.\n\n```\nfrob "a"\n```\n\nDone.\n'
    )


def test_a_table_of_bsd_without_an_end_has_all_of_its_rows() -> None:
    text = ".Dd May 1, 2020\n.Dt MILL 1\n.Sh GATES\n.Bl -column a b\n.It Gate Ta Size\n.It north Ta 2\n"
    table = "| Gate | Size |\n| --- | --- |\n| north | 2 |\n"
    assert convert("mill.1", text).content == f"# mill(1)\n\n## GATES\n\n{table}"
    assert (
        convert("mill.1", f"{text}.Sh BUGS\nNone.\n").content == f"# mill(1)\n\n## GATES\n\n{table}\n## BUGS\n\nNone.\n"
    )


def test_numbers_of_items_stand_before_them() -> None:
    text = ".TH MILL 1\n.SH STEPS\n.IP 1. 3\nOpen\nthe gate.\n.IP (b) 3\nWait.\n.IP [1]\nNote.\n.IP 8080\nThe port.\n"
    assert convert("mill.1", text).content == (
        "# mill(1)\n\n## STEPS\n\n1. Open the gate.\n\n(b) Wait.\n\n[1] Note.\n\n8080\n: The port.\n"
    )


@pytest.mark.parametrize("above", ["", '\\" A licence\n', '.\\" A licence\n.\\"\n'])
def test_pages_that_begin_with_comments_and_pages_that_are_another_one(above: str) -> None:
    assert convert("man2/frob.2", f"{above}.TH FROB 2\n.SH NAME\nfrob \\- turn it\n").title == "frob(2) - turn it"
    other = convert("man2/frobat.2", f"{above}.so man2/frob.2\n")
    assert (other.title, other.content) == ("frobat(2)", "# frobat(2)\n\nSee frob(2).\n")
    assert targets(other) == [f"{URI}man2/frob.2"]


def test_pages_of_manuals_in_other_formats_are_called_by_what_they_are_for() -> None:
    page = "= git-mill(1)\n\nNAME\n----\ngit-mill - Turn the mill\n\nSYNOPSIS\n--------\n'git mill'\n"
    assert convert("git-mill.adoc", page).title == "git-mill(1) - Turn the mill"
    html = "<title>mill(2) - Linux manual page</title><h1>mill(2)</h1><h2>NAME</h2><p>mill - turn the mill</p>"
    assert convert("mill.html", f"{html}<h2>NOTES</h2><p>{'It turns. ' * 40}</p>").title == "mill(2) - turn the mill"
    assert convert("mill.md", "# mill(2)\n\n## Usage\n\nmill - turn\n").title == "mill(2)"
    assert convert("x.md", "# Mills (2)\n\n## Name\n\nmill - turn\n").title == "Mills (2)"
