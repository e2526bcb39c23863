"""What acronyms stand for, where the text says it in front of them."""

from __future__ import annotations

from types import EllipsisType

import pytest

from core.rag.extraction.long_forms import long_forms
from core.rag.extraction.names import names_in
from core.rag.extraction.resolution import Candidate, resolve


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("by the Food and Drug Administration (FDA)", "english", {"Food and Drug Administration": "FDA"}),
        ("of the Organisation for Economic Co-operation and Development (OECD)", "english", ...),
        ("have attention deficit hyperactivity disorder (ADHD)", "english", ...),
        ("two large language models (LLMs)", "english", {"large language model": "LLM"}),
        ("some privacy threshold analyses (PTAs)", "english", {"privacy threshold analyses": "PTA"}),
        ("use multi-factor authentication (MFA)", "english", {"multi-factor authentication": "MFA"}),
        ("l'Agence nationale de la sécurité des systèmes d'information (ANSSI)", "french", ...),
        ("la Direction interministérielle du numérique (DINUM)", "french", ...),
        ("la Organización de las Naciones Unidas (ONU)", "spanish", ...),
        ("das Bundesamt für Sicherheit in der Informationstechnik (BSI)", "german", ...),
        ("in machine learning (ML), in a plan (AP), of Texas (TX) and we eat so much (ESM)", "english", {}),
        ("I met Ada Lane.\n\nBook (AB)", "english", {}),
        ("a note by Antoine du Hamel @aduh95 (TSC)", "english", {}),
    ],
)
def test_the_shortest_phrase_with_the_letters_of_the_acronym_is_its_long_form(
    text: str, language: str, expected: dict[str, str] | EllipsisType
) -> None:
    found = long_forms(text, language)
    if expected is ...:
        [(form, acronym)] = found.items()
        assert text.endswith((f" {form} ({acronym})", f"'{form} ({acronym})"))
    else:
        assert found == expected


def test_a_long_form_is_a_name_wherever_the_text_has_it_and_nothing_else_of_it_is() -> None:
    text = (
        "A Department of Health and Human Services (HHS) and the Food and Drug Administration (FDA) met. Then the Food "
        "and Drug Administration left, and so did the World Health Organization (WHO). Later the WHO wrote."
    )
    assert {found.text: found.count for found in names_in(text).values()} == {
        "Health and Human Services": 1,
        "HHS": 1,
        "Food and Drug Administration": 2,
        "FDA": 1,
        "World Health Organization": 1,
        "WHO": 2,
    }


def test_the_acronym_of_a_long_form_is_the_same_thing() -> None:
    text = (
        "De l'Agence nationale de la sécurité des systèmes d'information (ANSSI) et de la Food and Drug Administration "
        "(FDA)."
    )
    candidates = [Candidate(name, name, found.text, "") for name, found in names_in(text).items()]
    same = {(one.alias, one.entity) for one in resolve(candidates, fuzzy=False, together=set)}
    assert {frozenset(pair) for pair in same} == {
        frozenset({"agence nationale de la sécurité des systèmes d information", "anssi"}),
        frozenset({"food and drug administration", "fda"}),
    }


def test_many_ways_to_read_an_acronym_take_no_time() -> None:
    assert long_forms("a as an at " * 40 + "(AAAAAAAA)", "english") == {}
