"""LaTeX: environments and commands that :mod:`test_formats_text` does not show."""

from __future__ import annotations

from filetools import convert, targets

DOCUMENT = r"""\documentclass{beamer}
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
    document = convert("a.tex", DOCUMENT)
    assert document.content == (
        "# On Tides\n\n## Prices\n\nIt costs $5 at the mill.\n\nAnd $6 in the bay, $a+b$ or\n\n$$c^2$$\n\n"
        "or https://example.org/a or the mill.\n\n### First frame\n\nWords of the frame.\n\n### Second\n\n"
        "- one\n\ninner\n\nafter\n\n- [knuth] D. Knuth, Art.\n"
    )
    assert targets(document) == ["https://example.org/a", "https://example.org/b"]


def test_a_file_of_nothing_but_comments_stays_as_it_is() -> None:
    assert convert("a.tex", "% settings only\n").content == "% settings only\n"
