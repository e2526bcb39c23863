"""Questions that count the messages of a conversation."""

from __future__ import annotations

import json
from pathlib import Path

from tests.dbhandler.kit import Engine

DAYS = {
    "2025-06-09": [("U1", "Who opens the lock?"), ("U2", "I do, at the *weir*.")],
    "2025-06-10": [("U1", "The weir is open."), ("U1", "Thanks!"), ("U3", "Fine.")],
}
PEOPLE = {"U1": "Ada Hale", "U2": "Una Ross", "U3": "Bo Wilk"}


async def test_who_wrote_most_in_a_channel(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "locks").mkdir()
    (tmp_path / "users.json").write_text(json.dumps([{"id": i, "real_name": name} for i, name in PEOPLE.items()]))
    for day, said in DAYS.items():
        messages = [
            {"type": "message", "user": user, "ts": f"17494{day[-2:]}00{number}.0", "text": text}
            for number, (user, text) in enumerate(said)
        ]
        joins = {"type": "message", "subtype": "channel_join", "user": "U3", "ts": "1749400000.0", "text": "joined"}
        (tmp_path / "locks" / f"{day}.json").write_text(json.dumps([joins, *messages]))
    async with engine.knowledge() as kb:
        await kb.ingest([tmp_path])
        asked = {
            "Who wrote the most messages in locks?": "most records in locks, by author: Ada Hale: 3",
            "How many messages are in the locks channel?": "locks: 5 records",
            "How many messages in locks mention the weir?": "message contains weir: 2 of 5 records",
        }
        for question, expected in asked.items():
            assert expected in (await kb.ask(question)).text, question
        records = await kb.client.read(
            "MATCH (r:Record)-[:DEFINED_IN]->(d:Document) WHERE r.collection = 'locks' RETURN DISTINCT d.path AS path"
        )
        assert len(records) == len(DAYS)
