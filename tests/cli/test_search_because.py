"""``mgrag search`` says by which titles and sentence a passage was reached."""

from __future__ import annotations

from tests.cli.command import Command

TEXTS = {
    "Harvest_of_Glass.md": "# Harvest of Glass\n\nHarvest of Glass is a silent film. Its director was Ottoline Varga.",
    "Ottoline_Varga.md": "# Ottoline Varga\n\nOttoline Varga came into the world in Kecskemet on a Sunday.",
    "ferry.md": "# The ferry\n\nThe ferry crosses the bay twice a day.",
}


def test_a_hit_shows_the_path_and_the_sentence_that_led_to_it(mgrag: Command) -> None:
    folder = mgrag.folder / "films"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    assert mgrag("ingest", "films").code == 0
    question = "Where was the director of Harvest of Glass born?"
    shown = " ".join(mgrag("search", question, "--mode", "graph", "-k", "2").out.split())
    assert "because (bridge): Harvest of Glass → Ottoline Varga" in shown
    assert "“Its director was Ottoline Varga.”" in shown
    first, second = mgrag("search", question, "-k", "2", "--json").json
    assert first["because"]["reason"] == "named"
    assert second["because"] == {
        "reason": "bridge",
        "path": ["Harvest of Glass", "Ottoline Varga"],
        "sentence": "Its director was Ottoline Varga.",
        "name": "Ottoline Varga",
    }
    plain = mgrag("search", question, "--mode", "hybrid", "-k", "1", "--json").json
    assert plain[0]["because"] is None
