"""Answers without a model: how often they cite a relevant passage, say the answer, and are given at all.

The first is compared with search@5; the second is counted for questions of the set, for those of other sets, for
everyday questions, and for made-up ones about titles of the set.
"""

from __future__ import annotations

import math
import re
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.conversation import conversation
from benchmarks.data import DataSet, load
from core.rag import KnowledgeBase

SETS = ("2wiki_train500", "musique_train100", "mtrag_un_dev")
#: Sets whose questions are asked of the others, too, and how many of each.
OTHERS = ("cranfield", "mtrag_un_dev", "2wiki_train500")
FOREIGN = 50
#: What nothing says of anybody, asked of so many titles of a set.
MADE_UP = (
    "What is the shoe size of {}?",
    "What is the wifi password of {}?",
    "Which car does {} drive?",
    "When does the passport of {} expire?",
    "Who is the dentist of {}?",
)
TITLES = 60
#: What people ask of everything.
EVERYDAY = (
    "How do I bake a sourdough bread with a crispy crust?",
    "What temperature should the oven have for roast chicken?",
    "Which vaccine protects against measles and when is it given?",
    "How do I sort a list of dictionaries in Python?",
    "What is the offside rule in football?",
    "How often should I water an orchid?",
    "Which chords belong to the key of G major?",
    "What is the airspeed of an unladen swallow?",
    "Which enzyme fixes carbon in photosynthesis?",
    "How does a transistor amplify a signal?",
    "What are the side effects of ibuprofen?",
    "How do whales sleep?",
    "What is the capital gains treatment of my grandmother's knitting patterns?",
    "Why do cats purr?",
    "How many moves does a knight need to cross a chessboard?",
    "How do I change a bicycle inner tube?",
    "What is the boiling point of mercury?",
    "Explain the second law of thermodynamics",
    "Tell me about volcanoes on Io",
    "How is Kubernetes related to Docker?",
    "What is the difference between baking soda and baking powder?",
    "Who won the Eurovision Song Contest in 1974?",
    "Wie wechsle ich die Bremsbeläge an meinem Fahrrad?",
    "Comment faire une pâte feuilletée maison ?",
    "What else should I know about keeping honey bees?",
    "Which yoga poses help against back pain?",
    "How do I remove red wine stains from a carpet?",
    "What does the mitochondrion do in a cell?",
    "Summarize the plot of the Tale of Genji",
    "When do tomatoes need to be pruned?",
    "How do I tune a violin?",
    "What causes auroras?",
    "How do you prove that the square root of two is irrational?",
    "What is the recipe for pancakes?",
    "How do penguins keep their eggs warm?",
    "Which screws fit a Shimano derailleur hanger?",
    "What is the best litter for hamsters?",
    "How do glaciers move?",
    "Why is the sky blue?",
    "What is a monad in Haskell?",
)


@dataclass
class Counts:
    """Of the questions of one set.

    Attributes:
        searched: A relevant passage is among the five hits of the search.
        cited: A relevant passage is cited.
        answered: Something relevant was found.
        known: The set has an answer, which is neither yes nor no.
        said: It stands in the text,
        said_first: and in the first item of it.
        milliseconds: Of each answer.
    """

    searched: int = 0
    cited: int = 0
    answered: int = 0
    known: int = 0
    said: int = 0
    said_first: int = 0
    milliseconds: list[float] = field(default_factory=list)


async def main(folder: Path, questions: int | None = None) -> None:
    """Print a table for each set, and what share of foreign questions is answered.

    Args:
        folder: Where the sets are.
        questions: Of each set at most; ``None``: all.
    """
    for name in SETS:
        if not (folder / name).is_dir():
            continue
        data = load(folder, name)
        async with KnowledgeBase.open("embedded::memory:") as kb:
            await kb.ingest(data.documents())
            columns = ("questions", "search@5", "cited", "found", "said", "first", "p50 ms", "p95 ms")
            print(f"\n{name:24}" + "".join(f"{column:>10}" for column in columns))
            _show("alone", await measure(kb, data, questions, talking=False))
            if any(query.get("history") for query in data.queries):
                _show("in the conversation", await measure(kb, data, questions, talking=True))
            for other in (other for other in OTHERS if other != name and (folder / other).is_dir()):
                await _foreign(kb, other, [query["text"] for query in load(folder, other).queries[:FOREIGN]])
            await _foreign(kb, "everyday questions", EVERYDAY)
            if titles := sorted({row["title"] for row in data.passages if row.get("title")}):
                few = titles[:: max(1, len(titles) // TITLES)][:TITLES]
                made_up = [MADE_UP[index % len(MADE_UP)].format(title) for index, title in enumerate(few)]
                await _foreign(kb, "made up of its titles", made_up)


async def measure(kb: KnowledgeBase, data: DataSet, questions: int | None, *, talking: bool) -> Counts:
    """Ask all questions of a set, by themselves or in the conversations that they come from."""
    counts = Counts()
    for query in data.queries[:questions]:
        relevant = set(query["relevant"])
        talk = await conversation(kb, query) if talking else None
        hits = await kb.search(query["text"], k=5, conversation_id=talk)
        started = time.perf_counter()
        answer = await kb.ask(query["text"], conversation_id=talk, extracts=True)
        counts.milliseconds.append(1000 * (time.perf_counter() - started))
        counts.searched += any(hit.path in relevant for hit in hits)
        counts.cited += any(citation.path in relevant for citation in answer.citations)
        counts.answered += answer.found
        if (expected := _words(query.get("answer") or "")) not in ("", "yes", "no"):
            items = [f" {_words(item)} " for item in re.split(r"\n(?=- )", answer.text)[1:]]
            counts.known += 1
            counts.said += any(f" {expected} " in item for item in items)
            counts.said_first += f" {expected} " in items[0] if items else False
    return counts


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _show(name: str, counts: Counts) -> None:
    times = sorted(counts.milliseconds)
    shares = [100 * number / len(times) for number in (counts.searched, counts.cited, counts.answered)]
    shares += [100 * number / counts.known if counts.known else math.nan for number in (counts.said, counts.said_first)]
    shares += [statistics.median(times), times[int(0.95 * len(times))]]
    cells = (f"{'' if math.isnan(share) else f'{share:.1f}':>10}" for share in shares)
    print(f"{name:24}{len(times):10}" + "".join(cells), flush=True)


async def _foreign(kb: KnowledgeBase, name: str, questions: Sequence[str]) -> None:
    """How many questions that this set has nothing to do with are answered all the same."""
    found = [(await kb.ask(question, extracts=True)).found for question in questions]
    print(f"{name:24}{len(questions):10}{'':20}{100 * sum(found) / len(found):10.1f}", flush=True)
