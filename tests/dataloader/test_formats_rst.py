"""reStructuredText."""

from __future__ import annotations

import pytest

from core.rag.extraction.document_fields import naming_fields
from tests.dataloader.filetools import URI, convert, targets
from tests.growth import check_growth


def test_restructured_text_becomes_markdown() -> None:
    document = convert(
        "docs/a.rst",
        """=====
Title
=====

:author: Ann

Intro with ``literal``, *emphasis*, :ref:`a label <label>`, :py:func:`~pkg.mod.func`, `site <https://example.org/x>`_,
a named_ link and `other page <other.rst>`__.

.. _named: https://named.example.org/

.. comment that is dropped
   in both lines

Section
-------

.. code-block:: python

   def f():
       return 1

Shell::

    $ ls

.. note:: Be careful.
   Really.

.. image:: x.png
   :alt: A picture

Sub
~~~

=====  =====
A      B
=====  =====
1      2
3      4
=====  =====

+----+----+
| C  | D  |
+====+====+
| 5  | 6  |
+----+----+
""",
    )
    assert document.title == "Title"
    assert document.format == "markdown"
    assert document.metadata == {"author": "Ann"}
    for expected in (
        "# Title\n",
        "## Section\n",
        "### Sub\n",
        "`literal`",
        "a label",
        "`func`",
        "```python\ndef f():\n    return 1\n```",
        "Shell:\n\n```\n$ ls\n```",
        "Note: Be careful.",
        "Really.",
        "A picture",
        "| A | B |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |",
        "| C | D |\n| --- | --- |\n| 5 | 6 |",
    ):
        assert expected in document.content
    assert "dropped" not in document.content
    assert ".. " not in document.content
    assert sorted(targets(document)) == [
        "file:///home/me/docs/docs/other.rst",
        "https://example.org/x",
        "https://named.example.org/",
    ]


@pytest.mark.parametrize(
    ("directive", "markdown"),
    [
        (
            """.. csv-table:: Prices in *May*
   :header: "Name, full", Price
   :widths: 15, 10

   "Pear, green", 2.99
   "two
   lines", `site <https://example.org/x>`_
""",
            "Prices in *May*\n\n| Name, full | Price |\n| --- | --- |\n| Pear, green | 2.99 |\n| two lines | site |",
        ),
        (".. csv-table::\n   :header: a;b\n   :delim: ;\n\n   1;2,5\n", "| a | b |\n| --- | --- |\n| 1 | 2,5 |"),
        (".. csv-table::\n   :delim: space\n   :quote: '\n\n   'a' b\n", "| a | b |\n| --- | --- |"),
        (
            ".. csv-table:: Elsewhere\n   :header: a, b\n   :file: x.csv\n",
            "Elsewhere\n\n| a | b |\n| --- | --- |",
        ),
        (".. csv-table::\n   :delim: nonsense\n\n   1;2\n", "1;2"),
        (
            """.. list-table:: Fruit
   :header-rows: 1

   * - Head A
     - Head B
   * - one ``x``

       two
     -
   *  -  three
      -  four
""",
            "Fruit\n\n| Head A | Head B |\n| --- | --- |\n| one `x` two |  |\n| three | four |",
        ),
        (".. list-table::\n\n   - no\n   - rows\n", "- no\n- rows"),
        (
            ".. only:: html and not latex\n\n   Some ``words``.\n\n   .. note:: Inner.\n",
            "Some `words`.\n\nNote: Inner.",
        ),
        (".. py:function:: f(x)\n\n   :returns: something\n", "## `f`\n\n`f(x)`\n\n:returns: something\n\n# Title"),
        (".. code-block:: python\n   :caption: Why\n\n   x = 1\n", "Why\n\n```python\nx = 1\n```"),
        (".. versionadded:: 3.11\n", "Added in version 3.11."),
        (".. versionchanged:: 3.12\n   Raises ``X``.\n", "Changed in version 3.12:\nRaises `X`."),
        (".. deprecated:: 3.1  Use :pep:`249`.\n", "Deprecated since version 3.1: Use PEP 249."),
        (".. deprecated-removed:: 3.8 3.12\n", "Deprecated since version 3.8, removed in version 3.12."),
        (
            "See :rfc:`7159`, :pep:`the style <8>` and :cve:`2020-10735`.\n",
            "See RFC 7159, the style and CVE-2020-10735.",
        ),
        (
            """+---------+------------+-------+
| System  | Shell      | Runs  |
+=========+============+=======+
| POSIX   | bash       | ``a`` |
| (all)   +------------+-------+
|         | fish       | ``b`` |
+---------+------------+-------+
| 日本    | Not known anywhere |
+---------+------------+-------+
""",
            "| System | Shell | Runs |\n| --- | --- | --- |\n"
            "| POSIX (all) | bash | `a` |\n| POSIX (all) | fish | `b` |\n"
            "| 日本 | Not known anywhere |  |",
        ),
    ],
)
def test_restructured_text_directives(directive: str, markdown: str) -> None:
    document = convert("a.rst", f"Title\n=====\n\n{directive}\nAfter.\n")
    assert document.content == f"# Title\n\n{markdown}\n\nAfter."
    assert document.metadata == {}


def test_what_sphinx_describes_is_a_section_of_its_own() -> None:
    text = """Settings
========

.. setting:: MILL

MILL
----

.. py:data:: WHEEL

   Which wheel turns.

   Default: ``8``

.. confval:: ebb
   :type: list of :class:`str`
   :default: ``[]``

.. c:function:: struct mill *mill_new(int wheels)

   Makes one.

.. class:: Mill(x)

   A mill.

   .. method:: grind()

      Grinds.

   It is old.

.. option:: -c <command>

   Runs it.

.. function:: bare()

#. The text goes on.

Miller
------

.. class:: mills.Miller(name)

   Who grinds.

   .. method:: grind()

      Grinds.

.. note::

   .. envvar:: MILL_HOME

      Within a note.

.. tags:: wheels

   Of an extension.
"""
    assert (
        convert("a.rst", text).content
        == """# Settings

## MILL

### `WHEEL`

Which wheel turns.

Default: `8`

### `ebb`

Type: list of `str`

Default: `[]`

### `mill_new`

`struct mill *mill_new(int wheels)`

Makes one.

### `Mill`

`Mill(x)`

A mill.

#### `Mill.grind`

`grind()`

Grinds.

### `Mill`

It is old.

### `-c <command>`

Runs it.

## MILL

`bare()`

#. The text goes on.

## Miller

`mills.Miller(name)`

Who grinds.

### `Miller.grind`

`grind()`

Grinds.

## Miller

Note:

`MILL_HOME`

Within a note.

wheels

Of an extension."""
    )


def test_restructured_fields_of_several_lines_are_whole() -> None:
    document = convert(
        "a.rst",
        """Title
=====

:Author: Ann
:Address: 1 High Street
          Oxford
:Abstract: Kestrels migrate
   every *autumn*.

   Herons do not.
:Dedication:
   For all.
:orphan:
:Version: 2
:Prerequisites: A coast
    and a pair of binoculars.

Text.
""",
    )
    assert document.metadata == {"author": "Ann", "address": "1 High Street Oxford", "version": "2"}
    assert document.content == (
        "# Title\n\nAbstract: Kestrels migrate\nevery *autumn*.\n\nHerons do not.\n\nDedication:\nFor all.\n\n"
        "Prerequisites: A coast\nand a pair of binoculars.\n\nText."
    )


def test_titles_and_addresses_in_a_toctree() -> None:
    document = convert(
        "a.rst",
        """Title
=====

.. toctree::
   :maxdepth: 1

   intro
   Rory Barnes <https://example.org/rory>
   The rest <other/rest>
""",
    )
    assert document.content == "# Title\n\n- Rory Barnes\n- The rest"
    assert [(link.target, link.text) for link in document.links] == [
        (f"{URI}intro.rst", ""),
        ("https://example.org/rory", "Rory Barnes"),
        (f"{URI}other/rest.rst", "The rest"),
    ]


def test_references_to_documents_are_links() -> None:
    text = "See :doc:`install`, :doc:`the guide </guide/index>` and :external:doc:`python:library/os`.\n"
    document = convert("sub.rst", text)
    assert document.content == "See install, the guide and python:library/os."
    assert targets(document) == [f"{URI}install.rst", f"{URI}guide/index.rst"]


def test_what_directives_and_roles_show() -> None:
    text = """.. rst-class:: hide-header

Title
=====

.. container:: wide

   Kestrels hover.

.. admonition:: How they hover (in short)

   Against the wind.

.. seealso:: Herons

Call :meth:`.Bird.hover`. ::

   bird.hover()

As follows::

   bird.land()
"""
    assert convert("a.rst", text).content == (
        "# Title\n\nKestrels hover.\n\nHow they hover (in short)\n\nAgainst the wind.\n\nSee also: Herons\n\n"
        "Call `Bird.hover`.\n\n```\nbird.hover()\n```\n\nAs follows:\n\n```\nbird.land()\n```"
    )


def test_restructured_tables_are_not_blown_up() -> None:
    cells = "   * - a\n" + "     - a\n" * 20_000 + "   * - b\n" * 20_000
    assert len(convert("a.rst", f".. list-table::\n\n{cells}").content) < 1_000_000
    spanning = "+---+---+\n" + "| a | b |\n|   +---+\n" * 5_000 + "+---+---+\n"
    assert len(convert("a.rst", spanning).content) < 1_000_000


@pytest.mark.parametrize("piece", ["== ==\n", "`", "``a", ".. note::\n", "+--+\n|a|\n", "|a\n", "=====\na\n"])
def test_restructured_text_that_is_slow_to_match_is_not_slow(piece: str) -> None:
    assert convert("a.rst", piece * 20_000 + "\nlast words\n").content.endswith("last words")


MARKS = """
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
    document = convert("a.rst", MARKS)
    assert document.content == (
        "# Title\n\nWords [1] and a link and https://example.org/bare.\nSee Missing and missing_.\n\n"
        "[1] A footnote\n[CIT] A citation.\n\nThe mill\nThe caption.\n\nA legend.\n\na^2 + b^2\n\nc^2 d\n\n"
        "```python\nprint(1)\n```\n\n| A | B |\n| --- | --- |\n| 1 | two more |\n| 2 | x |"
    )
    assert sorted(targets(document)) == ["https://example.org/bare", "https://example.org/x"]


def test_references_without_a_name_lead_to_the_targets_in_their_order() -> None:
    document = convert(
        "a.rst",
        "See `the docs`__, `more <https://x.example/>`__, that__ and __init__.\n\n"
        "__ https://one.example/\n.. __: https://two.example/\n\n- as well `a third`__\n\n__ named_\n\n"
        ".. _named: https://three.example/\n",
    )
    assert document.content == "See the docs, more, that and __init__.\n\n- as well a third"
    assert {link.text: link.target for link in document.links} == {
        "the docs": "https://one.example/",
        "more": "https://x.example/",
        "that": "https://two.example/",
        "a third": "https://three.example/",
    }


def test_links_and_literals_go_on_in_the_next_line() -> None:
    document = convert(
        "a.rst",
        "Read `the long\nguide <https://one.example/guide>`__ and ``a literal\nof two`` words [#note]_ now [2]_, "
        "`one\nwith a block <https://two.example/>`_::\n\n    code\n\n- `an item\n"
        "  of a list <https://three.example/>`_ [*]_\n"
        "\nA lone ` stays.\n\n.. [#note] See `what\n   they say <https://four.example/>`_.\n.. [2] Second.\n",
    )
    assert document.content == (
        "Read the long guide and `a literal of two` words [note] now [2], one with a block:\n\n```\ncode\n```\n\n"
        "- an item of a list\n\nA lone ` stays.\n\n[note] See what they say.\n[2] Second."
    )
    assert sorted(targets(document)) == [
        "https://four.example/",
        "https://one.example/guide",
        "https://three.example/",
        "https://two.example/",
    ]


def test_the_fields_above_the_text_are_listed_and_have_the_title() -> None:
    document = convert(
        "pep-0008.rst",
        "PEP: 8\nTitle: Style Guide for\n  Python Code\nAuthor: Guido van Rossum <guido at python.org>,\n"
        "        Barry Warsaw\nStatus: Active\nResolution:\n\nIntroduction\n============\n\nThis gives conventions.\n",
    )
    assert document.title == "PEP 8 – Style Guide for Python Code"
    assert document.content == (
        "- PEP: 8\n- Title: Style Guide for Python Code\n"
        "- Author: Guido van Rossum <guido at python.org>, Barry Warsaw\n"
        "- Status: Active\n\n# Introduction\n\nThis gives conventions."
    )
    known = {name: document.metadata[name] for name in ("PEP", "author", "Status")}
    assert known == {
        "PEP": "8",
        "author": "Guido van Rossum <guido at python.org>, Barry Warsaw",
        "Status": "Active",
    }
    assert naming_fields(document.metadata) == {"author": ["Guido van Rossum", "Barry Warsaw"]}


@pytest.mark.parametrize(
    "text", ["Note: this\nWarning: that\n\nText.", "Title: alone\n\nText.", "Title: a\nAuthor: b\nText."]
)
def test_other_words_with_colons_are_text(text: str) -> None:
    document = convert("a.rst", f"{text}\n")
    assert (document.title, document.content) == (None, text)


def test_lines_of_a_table_without_a_table_take_no_time() -> None:
    check_growth(lambda size: convert("a.rst", "+-+-+\n" * size), 1_000)
