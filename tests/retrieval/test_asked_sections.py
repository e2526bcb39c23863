"""Of the document that a question names, the section comes first whose heading it names."""

from __future__ import annotations

import pytest

from core.rag import KnowledgeBase
from core.rag.analysis.purposes import purpose_asked
from core.rag.retrieval.hits import SearchMode
from core.rag.retrieval.ordering.asked_sections import Passage, asked_first, asked_sections
from libs.dataloader import Document

_MEMBERS = """
Olu Adeyemi @oade, Kirsi Lahti @klahti, Wanjiru Kamau @wkamau, Thibault Roche @troche, Yusuf Demir @ydemir, Noor Haddad
@nhaddad, Marit Solheim @msolheim, Hyun-woo Bae @hbae, Ines Ferreira @iferreira, Pavel Novotny @pnovotny, Chipo Moyo
@cmoyo, Gwen Pritchard @gpritch
"""


def _minutes(day: int) -> Document:
    """Minutes as committees keep them: names under "Present", which say nothing to a vector, and short sections."""
    present = "\n".join(f"* {name.strip()} (voting member {day})" for name in _MEMBERS.replace("\n", " ").split(","))
    content = f"""# Steering Committee Meeting 2024-05-{day:02}

## Links

* Recording of the steering committee meeting
* Minutes of the steering committee meeting

## Present

{present}

## Announcements

Number {day} of the newsletter is out.

## Committee and board meetings

Who was at the steering committee meeting tells the board about the steering committee meeting.

## Next meeting

A meeting of the steering committee in a week.
"""
    return Document(path=f"meetings/2024-05-{day:02}.md", content=content, mime_type="text/markdown")


@pytest.mark.parametrize("mode", ["hybrid", "graph", "auto"])
@pytest.mark.parametrize("filters", [None, "path:meetings/*"])
async def test_the_section_that_is_asked_for_comes_first(mode: SearchMode, filters: str | None) -> None:
    async with KnowledgeBase.open("embedded::memory:", chunk_size=64) as kb:
        await kb.ingest(_minutes(day) for day in range(1, 29))
        for question, heading in (
            ("Who was present at the steering committee meeting on 2024-05-15?", "Present"),
            ("What are the announcements of the meeting 2024-05-15?", "Announcements"),
        ):
            first = (await kb.search(question, mode=mode, filters=filters))[0]
            assert (first.path, first.heading.split(" > ")[-1]) == ("meetings/2024-05-15.md", heading)
            assert 0.0 < first.score <= 1.0


def _asked(heading: str, title: str = "Copy-Item", content: str = "Copies an item.") -> float | None:
    shares = {"copi": 0.2, "item": 0.1, "forc": 0.4, "paramet": 0.3}
    return asked_sections({"c": Passage("", content, heading, title)}, shares).get("c")


def test_it_counts_by_what_title_and_headings_have_of_the_question() -> None:
    assert _asked("PARAMETERS > -Force") == pytest.approx(1.0)
    assert _asked("-Force") == pytest.approx(0.7)
    assert _asked("-Force", title="Move-Item") == pytest.approx(0.5)
    assert _asked("4.2 -Force") == _asked("§ 433: -Force") == pytest.approx(0.7)


_ALERTS = ("PoolNearlyFull", "QuorumAtRisk", "ReplicaLagging", "LeaderMissing", "ClockSkewed", "BackupOverdue")


def _runbook(alert: str) -> Document:
    """A page on an alert; its name is in most of the sections, so all of these are named by a question on it."""
    content = f"""# {alert}

## Meaning

The alert `{alert}` fires if the store has had this state for ten minutes. `{alert}` is a warning.

## Impact

Writes may be refused later on.

## Diagnosis

List all members with `storectl status`, and look for `{alert}` in their logs.

## Mitigation

### Small clusters

Add a member while {alert} fires.
"""
    return Document(path=f"alerts/{alert}.md", content=content, mime_type="text/markdown")


@pytest.mark.parametrize("mode", ["hybrid", "graph", "auto"])
async def test_sections_of_a_page_with_a_name_are_found_by_their_headings(mode: SearchMode) -> None:
    async with KnowledgeBase.open("embedded::memory:", chunk_size=64) as kb:
        await kb.ingest(map(_runbook, _ALERTS))
        for alert in _ALERTS:
            for question, heading in (
                (f"What is the impact of {alert}?", "Impact"),
                (f"How do I diagnose {alert}?", "Diagnosis"),
                (f"How do I mitigate {alert}?", "Mitigation > Small clusters"),
            ):
                first = (await kb.search(question, mode=mode))[0]
                assert (first.path, first.heading) == (f"alerts/{alert}.md", heading), question


def test_what_is_below_a_heading_that_is_asked_for_counts_half() -> None:
    shares = {"forc": 0.6, "copi": 0.4}
    headings = ("-Force > Examples", "Copying > Notes", "Links")
    passages = {heading: Passage("", "Copies an item.", heading, "Copy-Item") for heading in headings}
    assert asked_sections(passages, shares) == {"-Force > Examples": pytest.approx(0.5)}
    # What stands above all passages is the name of the document.
    passages = {heading: Passage("", "Copies.", f"Forced > {heading}", "item.md") for heading in ("Examples", "Notes")}
    assert asked_sections(passages, shares) == {}


def test_a_section_is_asked_for_by_what_it_is_for_and_what_stands_above_it() -> None:
    purpose = purpose_asked("What was decided about the sluice on 2024-05-15?")
    shares = {"sluic": 0.6, "date20240515": 0.4}

    def asked(heading: str, title: str = "Minutes", path: str = "minutes.md") -> float | None:
        return asked_sections({"c": Passage("", "It stays.", heading, title, path)}, shares, purpose).get("c")

    assert asked("The sluice > Conclusion/Resolution") == pytest.approx(0.6)
    assert asked("Conclusion", title="The sluice") == pytest.approx(0.6)
    assert asked("Decisions", path="2024/board-05-15.md") == pytest.approx(0.4)
    assert asked("The sluice > Discussion and decision", path="2024/board-05-15.md") == pytest.approx(1.0)
    assert asked("The meadow > Conclusion") is None


def test_the_beginning_of_a_section_comes_before_the_rest_of_it() -> None:
    shares = {"forc": 0.6, "copi": 0.4}
    passages = {
        "begins": Passage("", "## -Force\n\nCopies.", "-Force", "Copy-Item", "copy.md"),
        "goes on": Passage("", "It copies.", "-Force", "Copy-Item", "copy.md"),
        "other": Passage("", "It moves.", "-Force", "Move-Item", "move.md"),
    }
    expected = {"begins": pytest.approx(1.0), "goes on": pytest.approx(0.5), "other": pytest.approx(0.6)}
    assert asked_sections(passages, shares) == expected


def test_a_heading_has_to_be_asked_for_with_all_its_words_and_say_more_than_the_title() -> None:
    assert _asked("-Force everything") is None
    assert _asked("Copy-Item") is None
    assert _asked("") is None
    assert _asked("***") is None
    assert asked_sections({"c": Passage("", "Copies.", "-Force", "Copy-Item")}, {}) == {}


def test_headings_are_read_in_the_language_of_the_text() -> None:
    german = "Die Rückgaben sind innerhalb von vierzehn Tagen möglich, und wir erstatten den Preis."
    passages = {"c": Passage("", german, "Rückgaben", "Verkauf")}
    assert asked_sections(passages, {"ruckgab": 1.0}) == {"c": pytest.approx(1.0)}


def test_the_best_score_is_no_greater_and_nothing_asked_changes_nothing() -> None:
    scores = {"a": 0.9, "b": 0.8}
    raised = asked_first(scores, {"b": 1.0}, 0.48)
    assert raised["a"] < raised["b"] <= max(scores.values())
    assert asked_first(scores, {}, 0.48) == scores
    assert asked_first({}, {}, 0.48) == {}
