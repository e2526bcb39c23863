"""The data that the answering stages pass to each other, and the answer."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from core.rag.answering.metrics import Metrics
from core.rag.headings import heading_path
from core.rag.retrieval.hits import Hit

Intent = Literal["factual", "relationship", "summary", "exploration"]
Strategy = Literal["flow", "basic", "drift"]

STRATEGIES: tuple[str, ...] = ("auto", *get_args(Strategy))


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a question is about.

    Attributes:
        query: The question.
        entities: What it names, in its order.
        intent: What sort of answer it wants.
        fallback: Whether the words of the question stand for the entities, because none was recognised.
        by_model: Whether a language model said so, and not rules.
    """

    query: str
    entities: tuple[str, ...]
    intent: Intent
    fallback: bool = False
    by_model: bool = False

    @property
    def extracted_entities(self) -> list[str]:
        """``entities`` as a list."""
        return list(self.entities)

    @property
    def query_intent(self) -> Intent:
        """``intent``."""
        return self.intent


@dataclass(slots=True)
class FoundEntity:
    """An entity of the graph that has to do with the question.

    Attributes:
        id: Its id.
        name: Its name.
        type: What sort of thing it is.
        summary: What is known of it; may be empty.
        mention_count: How often passages mention it.
        score: Name 3, summary 2 (both 5), else 1.
        similarity: Of its name with what the question names, 0 to 1; of the nearest passage that mentions it where it
            was found by vectors.
        method: Which leg found it first: ``pattern``, ``trigram``, ``vector``, or ``end`` of a relation.
    """

    id: str
    name: str
    type: str = ""
    summary: str = ""
    mention_count: int = 0
    score: float = 0.0
    similarity: float = 0.0
    method: str = ""


@dataclass(slots=True)
class FoundFact:
    """A relation between two entities.

    Attributes:
        source_id: Id of the entity that it goes from.
        source: Its name.
        target_id: Id of the entity that it goes to.
        target: Its name.
        type: What sort of relation.
        fact: It in words; may be empty.
        weight: How certain or frequent it is.
        chunk_ids: The passages that say so.
        score: Words in the fact 2, both ends found 3, one end 1.
        similarity: As of an entity, of the fact.
        method: As of an entity.
    """

    source_id: str
    source: str
    target_id: str
    target: str
    type: str
    fact: str
    weight: float = 1.0
    chunk_ids: tuple[str, ...] = ()
    score: float = 0.0
    similarity: float = 0.0
    method: str = ""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What makes it the same relation."""
        return (self.source_id, self.type, self.target_id, self.fact)


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage with the number that it is cited by.

    Attributes:
        number: From 1.
        hit: The chunk.
    """

    number: int
    hit: Hit

    @property
    def page(self) -> int | None:
        """The page that it begins on, where its document has pages."""
        page = self.hit.metadata.get("page")
        return page if isinstance(page, int) else None

    @property
    def title(self) -> str:
        """Where it stands: path and heading."""
        return heading_path((self.hit.path, self.hit.heading))


@dataclass(slots=True)
class Knowledge:
    """What was retrieved for a question.

    Attributes:
        entities: Best first.
        facts: Best first.
        hits: Passages, best first.
        relevant: Whether anything of it has to do with the question.
        near: Whether anything of it may have to do with the question.
        far: Ids of the passages that are not near, and have no word of the question.
        errors: What went wrong in single legs.
    """

    entities: list[FoundEntity] = field(default_factory=list)
    facts: list[FoundFact] = field(default_factory=list)
    hits: list[Hit] = field(default_factory=list)
    relevant: bool = False
    near: bool = False
    far: frozenset[str] = frozenset()
    errors: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Context:
    """What a model gets to read.

    Attributes:
        text: ``<definitions>``, ``<facts>`` and ``<passages>``; a part that would be empty is left out.
        passages: Those in it, by number.
        entities: Those in it.
        facts: Those in it.
        mermaid: A diagram of them; empty without entities.
        tokens: Of ``text``.
        left_out: How many passages, facts and entities did not fit.
    """

    text: str = ""
    passages: tuple[Passage, ...] = ()
    entities: tuple[FoundEntity, ...] = ()
    facts: tuple[FoundFact, ...] = ()
    mermaid: str = ""
    tokens: int = 0
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Citation:
    """A source of an answer.

    Attributes:
        number: The ``[n]`` in the text.
        document_id: Id of the document.
        chunk_id: Id of the chunk.
        path: Path, URL or name of the document.
        heading: Heading path of the chunk; may be empty.
        page: The page that the chunk begins on, where the document has pages.
        start_char: Where the chunk begins in the document.
        end_char: Where it ends (exclusive).
        quote: The sentence of the chunk that says what the answer says, word for word.
    """

    number: int
    document_id: str
    chunk_id: str
    path: str
    heading: str
    page: int | None
    start_char: int
    end_char: int
    quote: str

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values that JSON can hold."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class UnsupportedSentence:
    """A sentence whose source does not say so.

    Attributes:
        text: The sentence, without citations.
        numbers: What it cites.
        supported_by: Passages that it does not cite, but that say so.
    """

    text: str
    numbers: tuple[int, ...]
    supported_by: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its sources.

    Attributes:
        text: The answer; ``[n]`` cites a citation, `` (unverified)`` stands behind what its source does not say.
        citations: What the text cites, by number.
        intent: What sort of answer the question wanted.
        strategy: How it was made: ``flow``, ``basic`` or ``drift``.
        context: What it was made of.
        mermaid: A diagram of the entities and relations in it; may be empty.
        metrics: Counts and times of each stage.
        supported: Whether it cites something, and everything that it says is in what it cites.
        question: The question.
        extracts: Whether it consists of sentences of the passages, because there is no language model.
        found: Whether anything relevant was found; without a language model the nearest extracts may be there all the
            same, under a line that says so.
        unsupported: Sentences whose source does not say so.
        missing: Sentences that state something and cite nothing.
        dropped: Citations that were taken out of the text, because there is no such passage.
        entities: The entities that were found.
        facts: The relations that were found.
        message_id: Where the answer was recorded, with a conversation.
        details: What only one strategy has: paths and gaps of DRIFT; ``cut`` where a model stopped in the middle:
            ``length`` (its tokens ran out) or ``content_filter``.
    """

    text: str
    citations: tuple[Citation, ...]
    intent: Intent
    strategy: Strategy
    context: str
    mermaid: str
    metrics: Metrics
    supported: bool
    question: str = ""
    extracts: bool = False
    found: bool = True
    unsupported: tuple[UnsupportedSentence, ...] = ()
    missing: tuple[str, ...] = ()
    dropped: tuple[int, ...] = ()
    entities: tuple[FoundEntity, ...] = ()
    facts: tuple[FoundFact, ...] = ()
    message_id: str | None = None
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def final_message(self) -> str:
        """``text``."""
        return self.text

    @property
    def mermaid_diagram(self) -> str:
        """``mermaid``."""
        return self.mermaid

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values that JSON can hold."""
        return asdict(self)
