"""What code printed, in notebooks; and what Quarto and R Markdown say of the code that they run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.dataloader.filetools import convert

FRAME = """\
<div><style scoped>.dataframe tbody tr th { vertical-align: top; }</style>
<table border="1" class="dataframe"><thead>
<tr style="text-align: right;"><th></th><th>GDP per capita</th><th>Life satisfaction</th></tr>
<tr><th>Country</th><th></th><th></th></tr></thead>
<tbody><tr><th>Russia</th><td>26456.387938</td><td>5.8</td></tr>
<tr><th>Greece</th><td>27287.083401</td><td>5.4</td></tr></tbody></table><p>27 rows × 2 columns</p></div>"""
STATISTICS = ("count", "mean", "std", "min", "25%", "50%", "75%", "max")


def described(column: str) -> str:
    rows = "".join(f"<tr><th>{name}</th><td>{number}.5</td></tr>" for number, name in enumerate(STATISTICS))
    return f"<table><thead><tr><th></th><th>{column}</th></tr></thead><tbody>{rows}</tbody></table>"


def shown(*outputs: dict[str, Any]) -> str:
    """What stands below the code of a cell."""
    cell = {"cell_type": "code", "source": "run()", "outputs": list(outputs)}
    code, _, below = convert("a.ipynb", json.dumps({"cells": [cell]})).content.partition("\n```")
    assert code == "```python\nrun()"
    return below.strip()


def result(**data: str) -> dict[str, Any]:
    return {"output_type": "execute_result", "data": {kind.replace("_", "/"): text for kind, text in data.items()}}


def printed(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": [text]}


def test_a_data_frame_is_a_table() -> None:
    below = shown(result(text_html=FRAME, text_plain="   GDP per capita  \\"))
    assert below == (
        "| Country | GDP per capita | Life satisfaction |\n| --- | --- | --- |\n| Russia | 26456.387938 | 5.8 |\n"
        "| Greece | 27287.083401 | 5.4 |\n\n27 rows × 2 columns"
    )
    old = {"output_type": "pyout", "html": [FRAME], "text": ["   GDP per capita"]}  # version 3
    assert shown(old) == below


def test_of_statistics_there_is_a_row_for_each_column() -> None:
    assert shown(result(text_html=described("age"))) == (
        "|  | count | mean | std (standard deviation) | min (minimum) | 25% | 50% (median) | 75% | max (maximum) |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
        "| age | 0.5 | 1.5 | 2.5 | 3.5 | 4.5 | 5.5 | 6.5 | 7.5 |"
    )
    other = described("age").replace("std", "Ada")
    assert "| Ada | 2.5 |" in shown(result(text_html=other))


def test_a_table_that_is_drawn_is_one() -> None:
    border = "+-----+---+\n"
    spark = f"{border}|  day|  n|\n{border}|Monday| 3|\n|Friday|12|\n{border}only showing top 2 rows\n"
    assert shown(printed(spark)) == (
        "| day | n |\n| --- | --- |\n| Monday | 3 |\n| Friday | 12 |\n\nonly showing top 2 rows"
    )
    assert shown(printed("+-----+\nno table\n+-----+")).startswith("```\n+-----+")


def test_what_is_printed_in_pieces_is_one_text_as_a_terminal_shows_it() -> None:
    bar = [" 1/10 [>....]", "\r 5/10 [==>..]", "\r10/10 [=====] - loss: 0.31\n"]
    assert shown(printed("Epoch 1\n"), *map(printed, bar)) == "```\nEpoch 1\n10/10 [=====] - loss: 0.31\n```"
    assert shown(printed("1/9" + "\x08" * 3 + "9/9\r\nend")) == "```\n9/9\nend\n```"


def test_of_a_long_output_the_beginning_and_the_end_are_kept() -> None:
    below = shown(printed("".join(f"Epoch {number} - loss: {1 / number:.3f}\n" for number in range(1, 1000))))
    assert below.startswith("```\nEpoch 1 - loss: 1.000\n")
    assert "\n…\n" in below
    assert below.endswith("\nEpoch 999 - loss: 0.001\n```")
    assert len(below) < 2000


@pytest.mark.parametrize(
    "text",
    [
        "[<matplotlib.lines.Line2D at 0x7f2c1a>]",
        "<seaborn.axisgrid.FacetGrid at 0x1a2b3c>",
        "Text(0, 0.5, 'Loss')",
        "<IPython.core.display.HTML object>",
    ],
)
def test_objects_that_say_nothing_are_left_out(text: str) -> None:
    assert shown(result(text_plain=text)) == ""


def test_widgets_are_left_out_and_markdown_is_itself() -> None:
    widget = {
        "output_type": "display_data",
        "data": {"application/vnd.jupyter.widget-view+json": {}, "text/plain": "x"},
    }
    assert shown(widget) == ""
    assert shown(result(text_markdown="**Sum:** 3", text_plain="<Markdown>")) == "**Sum:** 3"


@pytest.mark.parametrize(
    ("name", "cells", "title"),
    [
        ("02_mill.ipynb", ["**Chapter 2 – Mills**", "# Setup", "# Grain"], "Chapter 2 – Mills"),
        ("Chapter 3 - Flour.ipynb", ["Words first.", "# 3.1 Stones", "# 3.2 Sails"], "Chapter 3 - Flour"),
        ("flour.ipynb", ["Words first.", "# Stones", "# Sails"], None),
        ("flour.ipynb", ["# All of flour", "# Stones"], "All of flour"),
        ("flour.ipynb", ["Words first.", "# Stones", "## Sails"], "Stones"),
    ],
)
def test_what_a_notebook_is_called(name: str, cells: list[str], title: str | None) -> None:
    made = [{"cell_type": "markdown", "source": cell} for cell in cells]
    assert convert(name, json.dumps({"cells": made})).title == title


def test_how_a_notebook_looks_is_left_out() -> None:
    style = {"cell_type": "markdown", "source": "<style>\n .CodeMirror { width: 800px; }\n</style>\n\nWords."}
    assert convert("a.ipynb", json.dumps({"cells": [style]})).content == "Words."


QUARTO = """\
# Joins

```{r}
#| label: fig-anti
#| echo: false
#| fig-cap: |
#|   An anti-join drops rows
#|   that have a match.
draw()
```

1.  In a list:

    ```{python}
    #| eval: false
    flights.head()
    ```

````markdown
```{r}
#| echo: false
```
````
"""


def test_options_of_code_are_left_out_and_captions_are_text() -> None:
    content = convert("joins.qmd", QUARTO).content
    assert content.startswith("# Joins\n\n```r\ndraw()\n```\n\nAn anti-join drops rows that have a match.\n\n1.  In a")
    assert "    ```python\n    flights.head()\n    ```\n" in content
    assert content.endswith("````markdown\n```{r}\n#| echo: false\n```\n````\n")
    old = '```{r cars, echo=FALSE, fig.cap="Speed and distance."}\nplot(cars)\n```\n'
    assert convert("cars.Rmd", old).content == "```r\nplot(cars)\n```\n\nSpeed and distance.\n"
    assert convert("cars.md", QUARTO).content.count("#| echo") == 2
