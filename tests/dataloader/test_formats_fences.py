"""Blocks of code within what becomes one Markdown text: none goes on in the next part, or ends within its own code."""

from __future__ import annotations

import io
import json
from email.message import EmailMessage

import docx
import pytest

from core.rag.indexing.splitting.splitter import TextSplitter
from libs.dataloader import Document
from tests.dataloader.filetools import convert

CUT = "Try this:\n```python\nopen_gates()\n"


def headings(document: Document) -> list[str]:
    return [chunk.heading for chunk in TextSplitter(60, 0).split(document)]


def test_code_that_a_message_does_not_end_does_not_take_the_next_conversation() -> None:
    def said(*parts: str) -> dict[str, object]:
        messages = [{"message": {"author": {"role": "user"}, "content": {"parts": [part]}}} for part in parts]
        return {str(number): message for number, message in enumerate(messages)}

    talks = [
        {"title": "Gates", "mapping": said(CUT, "# Thanks\nThey open.")},
        {"title": "Wheels", "mapping": said("~~~~\n```\n# no heading\n```\n~~~~", "They turn.")},
    ]
    document = convert("conversations.json", json.dumps(talks))
    assert "open_gates()\n```\n\nUser:\n\n## Thanks" in document.content
    assert "# no heading" in document.content and "## no heading" not in document.content
    assert headings(document) == ["Gates", "Gates > Thanks", "Wheels"]


def test_code_that_a_cell_does_not_end_does_not_take_the_next_cells() -> None:
    cells = [
        {"cell_type": "markdown", "source": "# Gates\n```\nopen"},
        {"cell_type": "code", "source": "turn()", "outputs": []},
        {"cell_type": "markdown", "source": "# Wheels\nThey turn."},
    ]
    document = convert("mill.ipynb", json.dumps({"cells": cells}))
    assert document.content == "# Gates\n```\nopen\n```\n\n```python\nturn()\n```\n\n# Wheels\nThey turn."


def test_code_that_a_message_does_not_end_does_not_take_its_attachments() -> None:
    message = EmailMessage()
    message["From"], message["Subject"] = "ida@example.org", "Gates"
    message.set_content(CUT)
    message.add_attachment("They turn.", filename="wheels.txt")
    document = convert("gates.eml", message.as_bytes())
    assert document.content.endswith("- wheels.txt (text/plain)\n```\n\n# wheels.txt\n\nThey turn.")
    archive = b"From ida Sat Jan  4 10:01:00 2025\n" + message.as_bytes()
    document = convert("all.mbox", archive + b"\n" + archive.replace(b"Gates", b"Wheels"))
    assert headings(document)[-1].startswith("Wheels")


def test_code_of_restructuredtext_that_has_fences_is_one_block() -> None:
    text = (
        "Mill\n====\n\n.. code-block:: markdown\n\n   ```python\n   # no heading\n   ```\n\n"
        "Thus::\n\n   ```\n   # none\n\nEnd"
    )
    assert convert("mill.rst", text).content == (
        "# Mill\n\n````markdown\n```python\n# no heading\n```\n````\n\nThus:\n\n````\n```\n# none\n````\n\nEnd"
    )


@pytest.mark.parametrize("line", ["~~~~~~~~", "```"])
def test_a_line_of_signs_in_a_word_document_begins_no_code(line: str) -> None:
    made = docx.Document()
    made.add_heading("Gates", 1)
    made.add_paragraph(line)
    made.add_heading("Wheels", 1)
    made.add_paragraph("They turn.")
    data = io.BytesIO()
    made.save(data)
    assert headings(convert("mill.docx", data.getvalue())) == ["Gates", "Wheels"]
