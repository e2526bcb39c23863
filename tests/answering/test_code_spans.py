"""What an answer without a model shows of source code."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag import KnowledgeBase
from core.rag.answering.extracts.code_spans import code_spans, comment_on, declared_below, defined_above
from core.rag.extraction.source_code import is_code, without_marks
from tests.growth import check_growth

PYTHON = '''\
class Mill:
    """Grinds grain.

    Args:
        stone: Of granite.
        sails: How many there are.
    """

    def grind(
        self, grain: str, *, fine: bool = False
    ) -> str:
        # Twice where it is
        # to be fine.
        return grind(grain) if fine else grain  # once
'''
JAVASCRIPT = """\
/**
 * Grinds grain. Needs wind.
 */
function grind(grain) {
  // Nothing to do.
  return grain;
}
"""
ROUTES = """\
/**
 * Serves the mill.
 *
 * @example
 * ```ts
 * app.use('/mill/*', grind({
 *   sails: 4,
 * }))
 * ```
 * @param sails - How many there are.
 */
export const serve = (sails: number) => {
  app.use('/*', log())
  app.get('/mill/*', (c) => grind(sails)) // once
}
"""
GO = "// Grind makes flour\n// of grain.\nfunc Grind(grain string) string {\n\treturn grain\n}\n"
RUST = "/// Makes flour.\npub fn grind(grain: &str) -> String {\n    grain.to_string()\n}\n"
SQL = "-- All mills.\nSELECT name\nFROM mills;\n"
INI = "[mill]\n; How many sails.\nsails = 4\n"


def pieces(text: str) -> list[tuple[str, bool]]:
    return [(" ".join(without_marks(text[start:end]).split()), said) for start, end, said in code_spans(text)]


def test_python() -> None:
    assert pieces(PYTHON) == [
        ("class Mill:", False),
        ("Grinds grain.", True),
        ("stone: Of granite.", True),
        ("sails: How many there are.", True),
        ("def grind( self, grain: str, *, fine: bool = False ) -> str:", False),
        ("Twice where it is to be fine.", True),
        ("return grind(grain) if fine else grain # once", False),
    ]


@pytest.mark.parametrize(
    ("text", "comments", "statement"),
    [
        (JAVASCRIPT, ["Grinds grain.", "Needs wind.", "Nothing to do."], "function grind(grain) {"),
        (GO, ["Grind makes flour of grain."], "func Grind(grain string) string {"),
        (RUST, ["Makes flour."], "pub fn grind(grain: &str) -> String {"),
        (SQL, ["All mills."], "SELECT name"),
        (INI, ["How many sails."], "sails = 4"),
        ("#include <mill.h>\nint main(void);\n", [], "#include <mill.h>"),
    ],
)
def test_comments_and_statements_of_other_languages(text: str, comments: list[str], statement: str) -> None:
    found = pieces(text)
    assert [piece for piece, said in found if said] == comments
    assert (statement, False) in found


@pytest.mark.parametrize(
    ("text", "said", "statement"),
    [
        ('stone: Of granite.\n    """\n    turn(stone)\n', ["stone: Of granite."], "turn(stone)"),
        ('    """\n    turn(stone)\n', [], "turn(stone)"),
        (" * Grinds. Needs wind.\n */\nfunction grind() {\n", ["Grinds.", "Needs wind."], "function grind() {"),
        ('def turn():\n    """\n    Turns the stone.\n    """\n', ["Turns the stone."], "def turn():"),
        ('def turn():\n    """\n    Turns the stone\n', ["Turns the stone"], "def turn():"),
    ],
)
def test_a_passage_may_begin_or_end_in_a_comment(text: str, said: list[str], statement: str) -> None:
    found = pieces(text)
    assert [piece for piece, is_said in found if is_said] == said
    assert [piece for piece, is_said in found if not is_said] == [statement]


def test_patterns_of_paths_are_no_comments_and_examples_in_comments_are_code() -> None:
    assert pieces(ROUTES) == [
        ("Serves the mill.", True),
        ("app.use('/mill/*', grind({ sails: 4, }))", False),
        ("@param sails - How many there are.", True),
        ("export const serve = (sails: number) => {", False),
        ("app.use('/*', log())", False),
        ("app.get('/mill/*', (c) => grind(sails)) // once", False),
    ]
    assert pieces('glob("src/**/*.py")\nglob("a/*/b")\n') == [('glob("src/**/*.py")', False), ('glob("a/*/b")', False)]


def test_a_passage_may_be_within_a_comment() -> None:
    assert pieces(" no wind.\n * It needs wind.\n *\n * Much of it.\n") == [
        ("no wind.", True),
        ("It needs wind.", True),
        ("Much of it.", True),
    ]
    words = "    the stone and the sails of the mill.\n\n    :param sails: how many of them\n        there are.\n"
    assert all(said for _, said in pieces(words))
    for code in ("turn(stone)", "stone = 4", "return the stone", "from mill import stone as the_stone"):
        assert (code, False) in pieces(f"    the stone and the sails of\n    {code}\n")
    assert pieces("#: How many sails.\n#: Four, or six.\nsails = 4\n") == [
        ("How many sails.", True),
        ("Four, or six.", True),
        ("sails = 4", False),
    ]


@pytest.mark.parametrize(
    ("text", "above"),
    [
        ("/*! Has an\n interface that\n is small. */\nlet x = 1;", ""),
        ("// class work is\nfn grind() {\n  turn();", "fn grind"),
    ],
)
def test_words_of_comments_are_no_definitions(text: str, above: str) -> None:
    assert defined_above(text, len(text)) == above


@pytest.mark.parametrize(
    ("text", "statement", "comment"),
    [
        (PYTHON, "class Mill:", "Grinds grain."),
        (PYTHON, "return grind(grain) if fine else grain  # once", "# Twice where it is\n        # to be fine."),
        (JAVASCRIPT, "function grind(grain) {", "Grinds grain."),
        (GO, "return grain", None),
        ("# Of another.\n\nturn()\n", "turn()", None),
        (
            "/// Lets water in.\n#[derive(Debug)]\n#[must_use]\npub struct Sluice {",
            "pub struct Sluice {",
            "Lets water in.",
        ),
        ("/** Turns it. */\n  @Override\n  public void turn() {", "public void turn() {", "Turns it."),
        ("// Of the mill.\n\n#[derive(Debug)]\nstruct Sluice;", "struct Sluice;", None),
        ("// Of the mill.\nlet a = [1];\nlet b = 2;", "let b = 2;", None),
    ],
)
def test_the_comment_on_a_statement(text: str, statement: str, comment: str | None) -> None:
    start = text.index(statement)
    place = comment_on(text, start, start + len(statement))
    found = None if place is None else " ".join(without_marks(text[slice(*place)]).split())
    assert found == (None if comment is None else " ".join(without_marks(comment).split()))


@given(st.text("ab(]#/*\"'\n .:=-", max_size=200), st.booleans())
def test_pieces_are_in_order_apart_and_lose_no_letter(text: str, nested: bool) -> None:
    spans = code_spans(text, nested=nested)
    assert all(one.end <= other.start for one, other in pairwise(spans))
    kept = "".join(text[span.start : span.end] for span in spans)
    lost = sum(character.isalpha() for character in text) - sum(character.isalpha() for character in kept)
    assert lost == 0 or ":" in text  # the head of a list of parameters, "Args:", says nothing


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("src/mill.py", True),
        ("https://example.org/mill.rs", True),
        ("mill.yaml", True),
        ("mill.md", False),
        ("py", False),
    ],
)
def test_code_is_known_by_its_name(path: str, code: bool) -> None:
    assert is_code(path) is code


SAILS = {
    "wind.py": (
        'MOST_SAILS = 4  # of canvas\n\n\ndef turn_sails(wind):\n    """Give all their share."""\n    return wind\n'
    ),
    "miller.py": "def work(wind):\n    # All sails, as turn_sails says.\n    return turn_sails(wind, MOST_SAILS)\n",
    "tests/test_wind.py": "def test_turn_sails():\n    assert turn_sails(1) == 1\n    assert turn_sails(2) == 2\n",
}


@pytest.mark.parametrize(
    ("question", "first", "path"),
    [
        ("What does turn_sails do?", "`def turn_sails(wind):` Give all their share.", "wind.py"),
        ("Where is turn_sails defined?", "`def turn_sails(wind):` Give all their share.", "wind.py"),
        ("What is MOST_SAILS?", "`MOST_SAILS = 4  # of canvas`", "wind.py"),
        (
            "What calls turn_sails?",
            "def work: `return turn_sails(wind, MOST_SAILS)` All sails, as turn_sails says.",
            "miller.py",
        ),
        (
            "Where is turn_sails() called?",
            "def work: `return turn_sails(wind, MOST_SAILS)` All sails, as turn_sails says.",
            "miller.py",
        ),
        ("Which test calls turn_sails?", "def test_turn_sails: `assert turn_sails(1) == 1`", "tests/test_wind.py"),
        ("Where is turn_sails tested?", "def test_turn_sails: `assert turn_sails(1) == 1`", "tests/test_wind.py"),
        (
            "Where is MOST_SAILS used?",
            "def work: `return turn_sails(wind, MOST_SAILS)` All sails, as turn_sails says.",
            "miller.py",
        ),
        ("Which function turns the sails?", "`def turn_sails(wind):` Give all their share.", "wind.py"),
    ],
)
async def test_answers_begin_with_the_definition_or_the_call_that_is_asked_for(
    question: str, first: str, path: str, tmp_path: Path
) -> None:
    for name, text in SAILS.items():
        file = tmp_path / "mill" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(tmp_path / "mill")
        answer = await kb.ask(question)
    item = answer.text.splitlines()[2]
    assert " ".join(item.split()).startswith(f"- {' '.join(first.split())} [")
    number = int(item[item.rindex("[") + 1 : item.rindex("]")])
    assert next(one.path for one in answer.citations if one.number == number).endswith(f"mill/{path}")


@pytest.mark.parametrize(
    ("question", "item"),
    [
        ("What does the class Mill do?", "- `class Mill:` Grinds grain. [1]"),
        ("How many sails are there?", "- class Mill: sails: How many there are. [1]"),
        ("When is it done twice to be fine?", "- def grind: Twice where it is to be fine. [1]"),
    ],
)
async def test_an_answer_from_source_code_can_be_read(question: str, item: str, tmp_path: Path) -> None:
    (tmp_path / "mill.py").write_text(PYTHON)
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(tmp_path)
        answer = await kb.ask(question)
    assert item in [line.replace("[2]", "[1]") for line in answer.text.splitlines()]


SERVICES = """\
services:
  web:
    image: mills/web
    # what it needs
    depends_on:
    - db
  db:
    image: postgres
    environment:
      - name: WHEEL
        value: oak
      - name: POND
        value: deep
    ports:
      - "5432"
    volumes:
      - pond:/data
"""


def test_what_is_in_few_lines_below_a_name_in_yaml_goes_with_it() -> None:
    said = [" ".join(SERVICES[start:end].split()) for start, end, _ in code_spans(SERVICES, nested=True)]
    assert said == [
        "services: web: image: mills/web",
        "what it needs",
        "depends_on: - db",
        "db:",
        "image: postgres",
        "environment: - name: WHEEL value: oak - name: POND value: deep",
        'ports: - "5432"',
        "volumes: - pond:/data",
    ]


async def test_an_answer_from_yaml_is_shown_as_such_with_where_it_is(tmp_path: Path) -> None:
    for name in ("sails", "wheels"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "compose.yaml").write_text(SERVICES.replace("mills", name))
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([tmp_path])
        hits = await kb.search("Which image does web use in wheels?")
        assert (hits[0].title, "wheels/web" in hits[0].content) == ("wheels/compose.yaml", True)
        answer = await kb.ask("What is the value of POND in the environment of db in wheels?")
        assert "  - name: POND\n" in answer.text
        assert "value: deep\n" in answer.text


DOCUMENTED = {
    "mill.graphql": (
        'type Mill {\n  """\n  How high the water stands in the pond.\n  """\n  level(at: Time): Float!\n}\n',
        "`level(at: Time): Float!` How high the water stands in the pond.",
    ),
    "mill.proto": (
        "message Mill {\n  // Output only. How high the water\n  // stands in the pond.\n  double level = 2;\n}\n",
        "`double level = 2` How high the water stands in the pond.",
    ),
    "Mill.java": (
        "class Mill {\n  /**\n   * How high the water stands in the pond.\n   */\n  @Metres\n  double level;\n}\n",
        "`double level` How high the water stands in the pond.",
    ),
    "mill.py": (
        "class Mill:\n    # How high the water stands in the pond.\n    level = 2\n",
        "class Mill: How high the water stands in the pond.",
    ),
}


@pytest.mark.parametrize("name", DOCUMENTED)
async def test_what_a_comment_documents_is_shown_with_it(name: str, tmp_path: Path) -> None:
    code, expected = DOCUMENTED[name]
    (tmp_path / name).write_text(code)
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([tmp_path])
        answer = await kb.ask("Which field says how high the water stands in the pond?")
        assert expected in answer.text


def test_what_is_declared_below_a_comment_is_found_in_linear_time() -> None:
    for hostile in ("(", "(a", "@", "a(a(a("):

        def find(size: int, text: str = hostile) -> str:
            return declared_below(f"/** x */\n{text * size}", 4, ("/**",))

        check_growth(find, 200_000)
