"""MyST: Markdown with the directives and roles of Sphinx."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dataloader.filetools import URI, convert

PARTS = (
    "```",
    "````",
    ":::",
    "{note}",
    "{py:class} X",
    "\n# ",
    "{eval-rst}",
    "{toctree}",
    "\n",
    " ",
    "a",
    "`",
    "---\n",
    ":x: y",
)


@pytest.mark.parametrize(
    "text, said",
    [
        ("```{note}\nThe dam is *old*.\n```", "Note: The dam is *old*."),
        (":::{warning} Mind the gap.\n:::", "Warning: Mind the gap."),
        ("```{seealso}\nThe gate.\n```", "See also: The gate."),
        ("```{versionchanged} 8.4\nThe dam is higher.\n```", "Changed in version 8.4: The dam is higher."),
        ("```{versionadded} 2.0\n```", "Added in version 2.0."),
        ("```{admonition} The dam\n:class: tip\n\nIt is old.\n```", "The dam\n\nIt is old."),
        ("````{tip}\nRun:\n\n```sh\nmake\n```\n````", "Tip: Run:\n\n```sh\nmake\n```"),
        ("1. Open it.\n\n   ```{note}\n   Slowly.\n   ```", "1. Open it.\n\n   Note: Slowly."),
        ("::::{tab-set}\n:::{tab-item} Linux\nRun `make`.\n:::\n::::", "Linux\n\nRun `make`."),
    ],
)
def test_notes_are_text(text: str, said: str) -> None:
    assert convert("a.md", f"Before.\n\n{text}\n\nBehind.\n").content == f"Before.\n\n{said}\n\nBehind.\n"


@pytest.mark.parametrize(
    "text, said",
    [
        ("```{code-block} python\n:caption: dam.py\n\nopen(dam)\n```", "dam.py\n\n```python\nopen(dam)\n```"),
        ("```{code-cell}\n---\ntags: [hide]\n---\nopen(dam)\n```", "```python\nopen(dam)\n```"),
        ("```{eval-rst}\n.. click:example::\n\n    open(dam)\n```", "```\nopen(dam)\n```"),
        ("```{eval-rst}\nSee :func:`open`.\n\n.. note:: Old.\n```", "See `open`.\n\nNote: Old."),
        ("```{list-table}\n* - Dam\n  - Year\n* - Ebb\n  - 1936\n```", "| Dam | Year |\n| --- | --- |\n| Ebb | 1936 |"),
    ],
)
def test_code_and_tables_are_those_of_markdown(text: str, said: str) -> None:
    assert convert("a.md", f"Before.\n\n{text}\n\nBehind.\n").content == f"Before.\n\n{said}\n\nBehind.\n"


def test_what_shows_nothing_is_left_out_and_contents_are_links() -> None:
    document = convert(
        "a.md", "# Dam\n\n```{contents}\n:depth: 2\n```\n```{toctree}\n:maxdepth: 1\ngate\n```\nIt is old.\n"
    )
    assert document.content == "# Dam\n\nIt is old.\n"
    assert [link.target for link in document.links] == [f"{URI}gate.md"]


@pytest.mark.parametrize(
    "text, said",
    [
        ("The {class}`~dam.Gate` of {func}`open()`.", "The `Gate` of `open()`."),
        ("See {ref}`the dam <dam>`, {pep}`8` and H{sub}`2`O.", "See the dam, PEP 8 and H2O."),
        ("Write ``{func}`open` `` for a function.", "Write ``{func}`open` `` for a function."),
        ("`--{on}/--{off}`, and `x`", "`--{on}/--{off}`, and `x`"),
        ("f{x}`y` and ${a}`b`", "f{x}`y` and ${a}`b`"),
    ],
)
def test_roles_are_what_they_display(text: str, said: str) -> None:
    assert convert("a.md", text).content == said


def test_what_is_described_is_a_section_of_its_own() -> None:
    text = """# Dam

Old.

```{py:function} send(words, *, to)
:no-index:

Sends it.

:param str words: What to send
```

Text goes on.

````{py:class} dam.Gate(x)
A gate, see {py:meth}`open`.

```{py:method} open(x)
Opens it.
```

```{py:attribute} level
:type: int
:value: 5
```

It is old.
````

```python
# a comment
```

:::{option} --echo
Echoes.
:::

## Gate

:::{envvar} DAM_HOME
:::

:::{note}
```{confval} wheels
In a note.
```
:::
"""
    assert (
        convert("a.md", text).content
        == """# Dam

Old.

## `send`

`send(words, *, to)`

Sends it.

:param str words: What to send

# Dam

Text goes on.

## `dam.Gate`

`dam.Gate(x)`

A gate, see `open`.

### `Gate.open`

`open(x)`

Opens it.

### `Gate.level`

Type: int

Value: 5

## `dam.Gate`

It is old.

# Dam

```python
# a comment
```

## `--echo`

Echoes.

## Gate

`DAM_HOME`

Note: `wheels`

In a note.
"""
    )


@pytest.mark.parametrize(
    "text",
    [
        "````markdown\n```{note}\nThe dam.\n```\n````\n",
        "```{r setup, echo=FALSE}\nx <- 1\n```\n",
        "```{python}\nx = 1\n```\n",
        "```{mermaid}\na --> b\n```\n",
        "::: {.callout-note}\nThe dam.\n:::\n",
        "```{note}\nnever closed\n",
    ],
)
def test_other_blocks_stay_as_they_are(text: str) -> None:
    assert convert("a.md", text).content == text


@given(st.lists(st.sampled_from(PARTS)))
def test_whatever_is_fenced_can_be_read(parts: list[str]) -> None:
    assert convert("a.md", "a ".join(["", *parts]) + "a").content
    assert convert("a.md", f"Words.\n{''.join(parts)}").content
