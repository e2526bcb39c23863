"""What passages of source code define, and that questions find it."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.rag import KnowledgeBase
from core.rag.analysis import asked_words
from core.rag.extraction.code_definitions import code_definitions
from core.rag.indexing.splitting.splitter import TextSplitter
from libs.dataloader import Document
from tests.growth import check_growth

#: Of each language: a file, what its passages define, and what they only have.
FILES = {
    "mill.py": (
        """\
MOST_SAILS: Final = 4
if MOST_SAILS == 4:
    pass


class Mill:
    '''Grinds.'''

    @property
    def stone_of(self) -> str:
        return stone_of(self)


def grind(
    grain):
    return Mill(grain)
""",
        ["MOST_SAILS", "Mill", "stone_of", "Mill.stone_of", "grind"],
    ),
    "mill.ts": (
        """\
export const mostSails = 4

export const grind: Work = (grain) => {
  const inner = 3
  return grind(inner)
}

export class Mill<T> implements Work {
  turn(sails: number): void {
    this.turn(sails)
  }
}
""",
        ["mostSails", "grind", "Mill", "turn", "Mill.turn"],
    ),
    "mill.go": (
        """\
package mill

const (
\t// MostSails is a limit.
\tMostSails = 4

\tfewSails string = `2`
)

var ErrCalm = errors.New("calm")

// Grind makes flour.
func (m *Mill) Grind(grain string) error {
\tsails := 4
\treturn turn(sails)
}

type Mill struct {
\tSails int
}
""",
        ["MostSails", "fewSails", "ErrCalm", "Grind", "Mill.Grind", "Mill"],
    ),
    "mill.rs": (
        """\
pub(crate) const MOST_SAILS: usize = 4;

/// Makes flour.
#[derive(Clone)]
pub struct Mill {
    sails: usize,
}

impl Work for Mill {
    fn grind(&self) -> &'static str {
        self.turn()
    }
}
""",
        ["MOST_SAILS", "Mill", "grind", "Mill.grind"],
    ),
    "mill.c": (
        """\
#define MOST_SAILS 4

static const int few_sails = 2;

typedef struct {
  int sails;
} mill;

static mill *
mill_new(int sails) {
  return mill_new(sails - 1);
}
""",
        ["MOST_SAILS", "few_sails", "mill", "mill_new"],
    ),
    "Mill.java": (
        """\
public class Mill {
  private static final int MOST_SAILS = 4;

  @Override
  public <T> Map<String, T> grind(T grain) throws Calm {
    return turn(grain);
  }
}
""",
        ["MOST_SAILS", "Mill", "grind", "Mill.grind"],
    ),
}


def words_of(path: str, size: int) -> set[str]:
    language = {"py": "python", "ts": "typescript", "rs": "rust"}.get(path[-2:], path.rpartition(".")[2])
    document = Document(path=path, content=FILES[path][0], format=f"code:{language}")
    chunks = TextSplitter(size, 0).split(document)
    return {word for chunk in chunks for word in code_definitions(chunk.content, path, chunk.heading)}


@pytest.mark.parametrize("path", FILES)
def test_what_source_code_defines(path: str) -> None:
    wanted = {word: name for name in FILES[path][1] for word in asked_words(name)}
    whole, cut = words_of(path, 120), words_of(path, 24)
    assert cut | whole <= wanted.keys(), "it has more"
    assert not {wanted[word] for word in wanted.keys() - whole - cut}


@pytest.mark.parametrize(
    ("heading", "passage", "defines"),
    [
        ("fn grind", "/// Makes flour, of which\n/// there is much to say.\n", True),
        ("class Mill > def grind", "    return grind(grain)\n", False),
        ("class Mill", "    mill: Mill = None\n", False),
        ("impl Mill", "impl Mill {\n", False),
        ("Grinding", "Mill grinds.", False),
    ],
)
def test_a_part_of_a_definition_defines_it_if_it_begins_it_or_only_comments_on_it(
    heading: str, passage: str, defines: bool
) -> None:
    assert bool(code_definitions(passage, "mill.rs", heading)) is defines
    assert code_definitions(passage, "mill.md", heading) == []


@pytest.mark.parametrize(
    "question",
    [
        "Where is turn_sails defined?",
        "turn_sails",
        "What does turn_sails do?",
        "What does the function turn_sails return?",
        "How does turn_sails work?",
        "How is turn_sails() implemented?",
    ],
)
async def test_a_question_for_a_function_finds_its_definition(question: str, tmp_path: Path) -> None:
    """Files that have its name far more often come later."""
    (tmp_path / "mill.py").write_text(
        'def turn_sails(wind):\n    """Give all their share."""\n    return wind.share(3)\n'
    )
    for number in range(12):
        uses = "".join(f"    turn_sails(turn_sails({number}{line}))\n" for line in range(5))
        (tmp_path / f"turn_sails_{number}.py").write_text(f"def test_turn_sails_{number}(turn_sails):\n{uses}")
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(tmp_path)
        [hit] = await kb.search(question, k=1)
        assert hit.path.endswith("mill.py")


@pytest.mark.parametrize("question", ["How does a tide work?", "What does a mill contain?", "how do sails turn"])
def test_words_are_no_names_of_code(question: str) -> None:
    assert not asked_words(question)


@pytest.mark.parametrize(
    ("piece", "end"),
    [("a ", ""), ("A", ""), ("const ", ""), ("const x", "="), ("\t", "A"), ("\tA\n", ")"), ("const (\n", ""),
     ("/* ", ""), ("grind", "("), ("x grind", ""), ("a<", ""), ("A\n", "="), ("*/ ", ""), ("\n * ", "")],
)  # fmt: skip
@pytest.mark.parametrize("path", ["mill.go", "mill.c"])
def test_hostile_code_takes_no_time(path: str, piece: str, end: str) -> None:
    check_growth(lambda size: code_definitions("const (\n" + piece * size + end, path, "Mill > func grind"), 20_000)
