"""LaTeX."""

from __future__ import annotations

import pytest

from tests.dataloader.filetools import URI, convert, targets

PAPER = r"""% a comment
\documentclass[11pt]{article}
\usepackage{amsmath}
\newcommand{\name}{FrobNet\xspace}
\newcommand{\R}[1]{\mathbb{R}^{#1}}
\title{On $n$ Graphs\thanks{Funded.}}
\author{Ada Lovelace \and Bj\"orn \v{S}mid}
\date{2024}
\begin{document}
\maketitle
\begin{abstract} We show it. \end{abstract}
\section[Short]{A \emph{first}
section}\label{sec:a}
Graphs~\cite[p.~3]{knuth} are 50\% --- see \ref{sec:a}. % not shown
\name is ``fast'' \footnote{In \texttt{O(n)}.} and \href{https://example.org/x}{free}.

% nothing
{\small Caf\'e, \c{c}a, na\"{\i}ve.}
\begin{itemize}
  \item One % first
  \item[Two] \verb|a_b|
\end{itemize}
\subsection*{Second}
\begin{equation}\label{eq}
  E = mc^2 % energy
\end{equation}
A price of $5\$ + x_{i}$ and \$7.
\begin{lstlisting}[language=Python]
def f(x):  # 5% of \it

    return x
\end{lstlisting}
\begin{table}[h]\centering
\caption{Results}
\begin{tabular}{l|r}
\hline A & B\\ \hline
\multicolumn{1}{c}{x} & \begin{tabular}{@{}l@{}}1\\2\end{tabular} \\
\end{tabular}
\end{table}
\begin{tikzpicture}\draw (0,0);\end{tikzpicture}
\begin{theorem}[Main] All is well.\end{theorem}
\input{parts/appendix}
\end{document}
Never shown.
"""


def test_latex() -> None:
    document = convert("paper.tex", PAPER)
    assert document.content == (
        "# On $n$ Graphs (Funded.)\n\n## Abstract\n\nWe show it.\n\n## A first section\n\n"
        "Graphs [knuth] are 50% — see sec:a. FrobNet is “fast” (In `O(n)`.) and free.\n\n"
        "Café, ça, naïve.\n\n- One\n- Two: `a_b`\n\n### Second\n\n$$E = mc^2$$\n\nA price of $5\\$ + x_{i}$ and $7.\n\n"
        "```python\ndef f(x):  # 5% of \\it\n\n    return x\n```\n\nResults\n\n"
        "| A | B |\n| --- | --- |\n| x | 1 2 |\n\nTheorem (Main). All is well.\n"
    )
    assert (document.format, document.mime_type) == ("markdown", "text/x-tex")
    assert document.title == "On $n$ Graphs (Funded.)"
    assert document.metadata == {"author": "Ada Lovelace; Björn Šmid", "created": "2024"}
    assert targets(document) == ["https://example.org/x", f"{URI}parts/appendix.tex"]


def test_latex_of_a_part_and_of_settings() -> None:
    assert (
        convert("a.tex", "\\chapter{One}\nText.\n\\section{Two} More.").content == "# One\n\nText.\n\n## Two\n\nMore.\n"
    )
    heading = convert("a.tex", "\\section{Some \\texorpdfstring{$n$}{n}-types}\nText.").content
    assert heading == "## Some n-types\n\nText.\n"
    settings = "\\newcommand{\\x}[1]{\\mathbb{#1}}\n\\def\\y#1{\\emph{#1} and so on}\n"
    assert convert("macros.tex", settings).content == settings
    assert convert("plain.tex", "Only words.").content == "Only words.\n"


@pytest.mark.parametrize(
    "text",
    [
        "\\emph{\\emph{ word",
        "word } } $ a",
        "$ a \n\n word",
        "\\begin{equation} word",
        "word \\begin{tabular}{l} a & b",
        "word \\title{",
        "word \\",
        "\\section{word",
        "\\verb word",
        "\\item[ word",
        "word \\end{tabular}\\end{x}",
    ],
)
def test_latex_that_is_not_closed_keeps_its_words(text: str) -> None:
    assert "word" in convert("a.tex", text).content


SLIDES = r"""\documentclass{beamer}
\title{On Tides}
\begin{document}
\maketitle
\section{Prices}
It costs $5 at the mill.

And $6 in the bay, \(a+b\) or \[c^2\] or \url{https://example.org/a} or \href{https://example.org/b}{the mill}.
\begin{frame}{First frame}
Words of the frame.
\end{frame}
\begin{frame}
\frametitle{Second}
\begin{itemize}
\item one
\begin{quote}inner
\end{itemize}
after
\end{frame}
\begin{thebibliography}{9}
\bibitem{knuth} D. Knuth, \emph{Art}.
\end{thebibliography}
\end{document}
"""


def test_dollars_of_different_paragraphs_are_prices_and_frames_are_sections() -> None:
    document = convert("a.tex", SLIDES)
    assert document.content == (
        "# On Tides\n\n## Prices\n\nIt costs $5 at the mill.\n\nAnd $6 in the bay, $a+b$ or\n\n$$c^2$$\n\n"
        "or https://example.org/a or the mill.\n\n### First frame\n\nWords of the frame.\n\n### Second\n\n"
        "- one\n\ninner\n\nafter\n\n- [knuth] D. Knuth, Art.\n"
    )
    assert targets(document) == ["https://example.org/a", "https://example.org/b"]


def test_a_file_of_nothing_but_comments_stays_as_it_is() -> None:
    assert convert("a.tex", "% settings only\n").content == "% settings only\n"


LISTS = r"""
\section{Gates}
\begin{enumerate}
\def\labelenumi{\arabic{enumi}.}
\tightlist
\item
  Open \textgreater{} 2 m.
\item Wait:
  \begin{itemize}
  \item
    for the bell,
  \item or the flood.
  \end{itemize}
\item
  Close.
\end{enumerate}
\begin{description}
\item[\textbf{The \texttt{upper} gate}] of 1802.
\end{description}

\begin{longtable}[]{@{}ll@{}}
\caption{Gates of the \emph{mill}}\tabularnewline
\toprule
Gate & Built \\
\midrule
\endfirsthead
\toprule
Gate & Built \\
\midrule
\endhead
\bottomrule
\endlastfoot
Upper & 1802 \\
\end{longtable}

\begin{Shaded}
\begin{Highlighting}[]
\KeywordTok{def}\NormalTok{ flow(h) }\OperatorTok{{-}\textgreater{}} \BuiltInTok{dict}\NormalTok{:}
    \ControlFlowTok{return}\NormalTok{ \{h\}  }\CommentTok{\# weir}
\end{Highlighting}
\end{Shaded}
"""


def test_lists_long_tables_and_code_as_pandoc_writes_them() -> None:
    assert convert("gates.tex", LISTS).content == (
        "## Gates\n\n1. Open > 2 m.\n2. Wait:\n\n  - for the bell,\n  - or the flood.\n\n3. Close.\n\n"
        "- The upper gate: of 1802.\n\n"
        "Gates of the mill\n\n| Gate | Built |\n| --- | --- |\n| Upper | 1802 |\n\n"
        "```\ndef flow(h) -> dict:\n    return {h}  # weir\n```\n"
    )


def test_tables_of_a_given_width_with_room_below_their_rows() -> None:
    table = (
        r"\begin{tabular*}{\textwidth}{@{\extracolsep{\fill}}lcr}"
        "\n"
        r"Gate & Built & Keeper \\[2pt]"
        "\n\\hline\n"
        r"Upper & 1802 & Ida \\*"
        "\n"
        r"Lower & 1811 & [none] \\ [0.5\baselineskip]"
        "\n"
        r"Old & [1700] & Jon \\"
        "\n"
        r"[New] & 1999 & Ann"
        "\n"
        r"\end{tabular*}"
    )
    assert convert("gates.tex", table).content == (
        "| Gate | Built | Keeper |\n| --- | --- | --- |\n| Upper | 1802 | Ida |\n| Lower | 1811 | [none] |\n"
        "| Old | [1700] | Jon |\n| [New] | 1999 | Ann |\n"
    )


def test_entries_of_an_index_are_not_shown_whatever_their_command_is_called() -> None:
    text = convert(
        "a.tex",
        "\\section{Paths}\\indexsee{space!topological}{topological space}\\indexdef{path}\\emph{Paths} turn"
        "\\symbolindex{p}. The \\texttt{index} of {a} path\\indexlibrarymember{path}{turn}\n{is} one.\n",
    ).content
    assert text.strip() == "## Paths\n\nPaths turn. The `index` of a path\nis one."
