"""reStructuredText: marks that :mod:`test_formats_text` does not show."""

from __future__ import annotations

from filetools import convert, targets

DOCUMENT = """
Title
=====

Words [1]_ and `a link <https://example.org/x>`_ and https://example.org/bare.
See `Missing`_ and missing_.

----

.. [1] A footnote
.. [CIT] A citation.

.. figure:: mill.png
   :alt: The mill

   The caption.

   A legend.

.. math:: a^2 + b^2

.. math::

   c^2
   d

.. code-block:: python
   :emphasize-lines: 1,
      2

   print(1)

=====  =====
A      B
=====  =====
1      two
       more
2      x
=====  =====
"""


def test_footnotes_figures_formulas_and_rows_of_several_lines() -> None:
    document = convert("a.rst", DOCUMENT)
    assert document.content == (
        "# Title\n\nWords [1]_ and a link and https://example.org/bare.\nSee Missing and missing_.\n\n"
        "[1] A footnote\n[CIT] A citation.\n\nThe mill\nThe caption.\n\nA legend.\n\na^2 + b^2\n\nc^2 d\n\n"
        "```python\nprint(1)\n```\n\n| A | B |\n| --- | --- |\n| 1 | two more |\n| 2 | x |"
    )
    assert sorted(targets(document)) == ["https://example.org/bare", "https://example.org/x"]
