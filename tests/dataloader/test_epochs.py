"""Times that JSON has as numbers."""

from __future__ import annotations

import json
from pathlib import Path

from tests.dataloader.filetools import load, tree


async def test_numbers_in_fields_of_times_are_read_as_times(tmp_path: Path) -> None:
    invoice = {
        "id": "in_1",
        "created": 1711929600,
        "dueDate": 1713139200,
        "current_period_end": 1713139200.5,
        "lines": [{"period": {"start": 1711929600}}],
    }
    log = {"time": 1777797240000, "level": 50, "msg": "Stopped"}
    other = {"amount": 1711929600, "state": 1711929600, "updated_at": 12, "format": 1711929600, "at": True}
    lines = "\n".join(map(json.dumps, (log, other)))
    folder = tree(tmp_path, {"invoices.json": json.dumps([invoice, invoice]), "app.ndjson": lines})
    documents = (await load(folder)).documents
    text = documents[f"{folder}/invoices.json"].content
    for told in (
        "created: 2024-04-01T00:00:00Z",
        "dueDate: 2024-04-15T00:00:00Z",
        "current_period_end: 2024-04-15T00:00:00.500Z",
        "period.start: 2024-04-01T00:00:00Z",
    ):
        assert told in text
    text = documents[f"{folder}/app.ndjson"].content
    assert "time: 2026-05-03T08:34:00Z" in text
    assert {"amount: 1711929600", "state: 1711929600", "updated_at: 12", "format: 1711929600"} < set(text.splitlines())
