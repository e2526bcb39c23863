"""Passages about a tide mill, and answers whose citations are right or not."""

from __future__ import annotations

from dataclasses import dataclass

from core.rag.answering.types import Passage
from core.rag.retrieval.hits import Hit

_TEXTS = {
    1: (
        "History of the mill",
        "The tide mill of Kestrel Bay was built in 1612 by the priory's last steward, Edmund Harrow. His family ran it "
        "for nine generations. A storm broke the dam in 1703, and it took four years to close the gap.",
    ),
    2: (
        "The long pause",
        "The mill stood still from 1936 until 2019. In that year Ines Harrow and the carpenter Tomasz Wilk founded the "
        "Kestrel Bay Mill Trust. The building had served as a boat store.",
    ),
    3: (
        "The machinery",
        "The wheel has a diameter of 5.4 metres and 48 paddles of larch. It turns two pairs of French burr stones. A "
        "wheel that runs faster than eleven turns a minute overheats the flour.",
    ),
    4: (
        "Survey of 2020",
        "Amara Oduya surveyed the sea gates for the Harbour Laboratory. The northern gate leaks 30 litres a second; "
        "the ground behind it is hollow. She advised to fill it with clay before any milling.",
    ),
    5: (
        "Money",
        "The Lighthouse Fund gave 120,000 pounds for the new wheel. Visitors paid 8,400 pounds in 2022. The County "
        "Museum lends the trust its collection of mill bills free of charge.",
    ),
    6: (
        "Birds of the pond",
        "Kestrels nest in the gable of the mill. Forty pairs of avocets breed on the mud of the pond, which is drained "
        "twice a day. The reserve closes its southern path from April to July.",
    ),
}


def passages() -> list[Passage]:
    """The six passages, numbered from 1."""
    return [
        Passage(
            number,
            Hit(
                chunk_id=f"c{number}",
                document_id=f"d{number}",
                path=f"mill/{number}.md",
                title=heading,
                heading=heading,
                content=text,
                chunk_index=0,
                start_char=0,
                end_char=len(text),
                score=1.0,
            ),
        )
        for number, (heading, text) in _TEXTS.items()
    ]


#: Sentences and the passages that say so: some word for word, most in other words, some from two passages.
RIGHT: list[tuple[str, tuple[int, ...]]] = [
    ("The tide mill of Kestrel Bay was built in 1612 by Edmund Harrow", (1,)),
    ("Edmund Harrow, the last steward of the priory, built the mill in 1612", (1,)),
    ("The Harrow family ran the mill for nine generations", (1,)),
    ("In 1703 a storm broke the dam", (1,)),
    ("Closing the gap that the storm of 1703 tore took four years", (1,)),
    ("The mill stood still between 1936 and 2019", (2,)),
    ("The Kestrel Bay Mill Trust was founded by Ines Harrow and Tomasz Wilk in 2019", (2,)),
    ("Tomasz Wilk is a carpenter who helped to found the trust", (2,)),
    ("During the long pause the building was a boat store", (2,)),
    ("The wheel measures 5.4 metres in diameter", (3,)),
    ("It has 48 larch paddles", (3,)),
    ("Two pairs of French burr stones are turned by the wheel", (3,)),
    ("Above eleven turns a minute the flour overheats", (3,)),
    ("Amara Oduya surveyed the sea gates for the Harbour Laboratory", (4,)),
    ("The northern gate leaks 30 litres a second", (4,)),
    ("The ground behind the northern gate is hollow", (4,)),
    ("Oduya advised filling it with clay before milling", (4,)),
    ("The Lighthouse Fund paid 120,000 pounds for the new wheel", (5,)),
    ("In 2022 visitors paid 8,400 pounds", (5,)),
    ("The County Museum lends its mill bills free of charge", (5,)),
    ("Kestrels nest in the gable of the mill", (6,)),
    ("Forty pairs of avocets breed on the mud of the pond", (6,)),
    ("The southern path of the reserve is closed from April to July", (6,)),
    ("Edmund Harrow built the mill in 1612, and it stood still from 1936 until 2019", (1, 2)),
    ("The new wheel, 5.4 metres in diameter, was paid for by the Lighthouse Fund", (3, 5)),
]


@dataclass(frozen=True)
class Planted:
    """An answer of one sentence.

    Attributes:
        kind: What is wrong with it: ``wrong``, ``missing`` or ``swapped``.
        text: It, with markers.
        sentence: It, without.
        planted: The citations that must be caught.
    """

    kind: str
    text: str
    sentence: str
    planted: tuple[int, ...]


def _marked(sentence: str, numbers: tuple[int, ...]) -> str:
    return f"{sentence} {''.join(f'[{number}]' for number in numbers)}."


def planted_answers() -> list[Planted]:
    """Fifty: every right sentence once without its citation, cited wrongly, or with that of its neighbour."""
    answers = []
    for index, (sentence, numbers) in enumerate(RIGHT):
        if index % 3 == 0:
            answers.append(Planted("missing", f"{sentence}.", sentence, ()))
        elif index % 3 == 1:
            answers.append(Planted("wrong", _marked(sentence, (*numbers, 17)), sentence, (17,)))
        else:
            answers.append(Planted("wrong", _marked(sentence, (0,)), sentence, (0,)))
        other = numbers[-1] % 6 + 1 if numbers[-1] % 6 + 1 not in numbers else numbers[-1] % 6 + 2
        answers.append(Planted("swapped", _marked(sentence, (other,)), sentence, (other,)))
    return answers


def right_answers() -> list[str]:
    """Every sentence as it should be."""
    return [_marked(sentence, numbers) for sentence, numbers in RIGHT]
