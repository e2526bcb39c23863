"""The data that the answering stages pass to each other, and the answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from core.rag.answering.metrics import Metrics
from core.rag.dbhandler.knowledge.periods import Period
from core.rag.headings import heading_path
from core.rag.keyed import Plain
from core.rag.retrieval.hits import Hit

Intent = Literal["factual", "relationship", "summary", "exploration"]
Strategy = Literal["flow", "basic", "drift", "overview"]

#: In the metadata of a passage: its text was worked out from all records of a collection, and is in no document; false:
#: it says that there are too many.
COMPUTED: Final = "computed"
#: Likewise: it is a record that no document has, and this is its id.
RECORD: Final = "record"


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a question is about.

    Attributes:
        query: The question.
        entities: The names in it, in order.
        intent: The kind of answer it asks for.
        fallback: Whether ``entities`` are plain words of the question, because no name was recognised.
        by_model: Whether a language model analysed the question, instead of rules.
    """

    query: str
    entities: tuple[str, ...]
    intent: Intent
    fallback: bool = False
    by_model: bool = False

    @property
    def extracted_entities(self) -> list[str]:
        """``entities`` as a list: their name in the state of a flow."""
        return list(self.entities)

    @property
    def query_intent(self) -> Intent:
        """``intent``: its name in the state of a flow."""
        return self.intent


@dataclass(slots=True)
class FoundEntity:
    """An entity of the graph that is relevant to the question.

    Attributes:
        id: Its id.
        name: Its name.
        type: Its type, such as ``person``.
        summary: A description of it; may be empty.
        mention_count: How often passages mention it.
        score: 3 if its name matched, 2 if its summary did, 5 for both, else 1.
        similarity: Similarity of its name to a name in the question, 0 to 1; if it was found by vectors, that of the
            nearest passage that mentions it.
        method: What found it first: ``pattern``, ``trigram``, ``vector``, ``end`` (of a relation), or ``drift`` (on a
            path).
        document: Id of the document whose fields the summary has; empty: it has none, or those of several.
    """

    id: str
    name: str
    type: str = ""
    summary: str = ""
    mention_count: int = 0
    score: float = 0.0
    similarity: float = 0.0
    method: str = ""
    document: str = ""


@dataclass(slots=True)
class FoundFact:
    """A relation between two entities.

    Attributes:
        source_id: Id of the entity that it goes from.
        source: Its name.
        target_id: Id of the entity that it goes to.
        target: Its name.
        type: The kind of relation.
        fact: The relation as a sentence; may be empty.
        weight: How certain or frequent it is.
        chunk_ids: The passages that state it.
        score: 2 if the fact contains a name in the question, plus 3 if both ends were found, or 1 if one was.
        similarity: See :class:`FoundEntity`; of the fact.
        method: See :class:`FoundEntity`.
        valid_from: When it began to hold, if that was stated: UTC, ISO 8601.
        valid_to: When it ceased to hold, likewise.
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
    valid_from: str = ""
    valid_to: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """The fields that identify a relation."""
        return (self.source_id, self.type, self.target_id, self.fact, self.valid_from)

    @property
    def period(self) -> Period:
        """When it holds."""
        return Period(self.valid_from, self.valid_to)


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
        """The page that it begins on, if its document has pages."""
        page = self.hit.metadata.get("page")
        return page if isinstance(page, int) else None

    @property
    def is_computed(self) -> bool:
        """Whether its text was worked out from records."""
        return COMPUTED in self.hit.metadata

    @property
    def record_id(self) -> str:
        """The id of the record that it is; empty if it is a part of a document, which may have such metadata, too."""
        return "" if self.hit.document_id else str(self.hit.metadata.get(RECORD, ""))

    @property
    def title(self) -> str:
        """Where it is from: path and heading."""
        return heading_path((self.hit.path, self.hit.heading))


@dataclass(slots=True)
class Knowledge:
    """What was retrieved for a question.

    Attributes:
        entities: Best first.
        facts: Best first.
        hits: Passages, best first.
        relevant: Whether any of it is relevant to the question.
        near: Whether any of it may be relevant to the question.
        far: Ids of the passages that are not near and share no word with the question.
        errors: Failures of single retrieval legs.
        failure: Why the passages could not be searched, if they could not: that none is there says nothing then.
        about: What is said of all documents together.
        computed: What all records of a collection come to, if the question asks that.
    """

    entities: list[FoundEntity] = field(default_factory=list)
    facts: list[FoundFact] = field(default_factory=list)
    hits: list[Hit] = field(default_factory=list)
    relevant: bool = False
    near: bool = False
    far: frozenset[str] = frozenset()
    errors: list[str] = field(default_factory=list)
    failure: Exception | None = None
    about: str = ""
    computed: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """The context that a model reads.

    Attributes:
        text: ``<documents>``, ``<definitions>``, ``<facts>`` and ``<passages>``; empty parts are left out.
        passages: The passages in it, by number.
        entities: The entities in it.
        facts: The facts in it.
        mermaid: A diagram of the entities and facts; empty without entities.
        tokens: Number of tokens of ``text``.
        left_out: How many passages, facts and entities did not fit.
        failure: Why the passages could not be searched, if they could not.
    """

    text: str = ""
    passages: tuple[Passage, ...] = ()
    entities: tuple[FoundEntity, ...] = ()
    facts: tuple[FoundFact, ...] = ()
    mermaid: str = ""
    tokens: int = 0
    left_out: int = 0
    failure: Exception | None = None


@dataclass(frozen=True, slots=True)
class Citation(Plain):
    """A source of an answer.

    Attributes:
        number: The ``[n]`` in the text.
        document_id: Id of the document.
        chunk_id: Id of the chunk.
        path: Path, URL or name of the document.
        heading: Heading path of the chunk; may be empty.
        page: The page that the chunk begins on, if the document has pages.
        start_char: Where the chunk begins in the document.
        end_char: Where it ends (exclusive).
        quote: The sentence of the chunk, word for word, that supports the answer; or the fields of its document
            (``author: Ada Lane``), if it is these that do. Of what was worked out from records, the result: the chunk
            is then the first of the document, the characters are all of it, and records that were inserted have none.
            Of a table in a document, they are those of the table.
        record_id: Id of the record, of what is cited of a record that was inserted; there is no chunk then, and the
            path is the name of its collection.
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
    record_id: str = ""


@dataclass(frozen=True, slots=True)
class UnsupportedSentence:
    """A sentence that its sources do not support.

    Attributes:
        text: The sentence, without citations.
        numbers: Numbers of the passages that it cites.
        supported_by: Numbers of passages that it does not cite but that support it.
    """

    text: str
    numbers: tuple[int, ...]
    supported_by: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer(Plain):
    """An answer with its sources.

    Attributes:
        text: The answer; ``[n]`` refers to a citation, `` (unverified)`` follows what its source does not support.
        citations: The citations in the text, by number.
        intent: The kind of answer that the question asked for.
        strategy: The strategy used: ``flow``, ``basic`` or ``drift``.
        context: The context it was made from.
        mermaid: A diagram of the entities and relations in it; may be empty.
        metrics: Counts and times of each stage.
        supported: Whether it cites something, and the cited passages support all of it.
        question: The question.
        extracts: Whether it consists of sentences from the passages, because no language model was used.
        found: Whether anything relevant was found, and without a language model, whether what is asked of a known
            name is witnessed; the text may still have the nearest extracts then, under a line that says so.
        unsupported: Sentences that their sources do not support.
        missing: Sentences that state something and cite nothing.
        dropped: Citation numbers removed from the text: no such passage exists, or it has nothing to do with the
            sentence, which another one supports.
        untold: Sentences in another language than what they cite, whose names and numbers are there; whether it
            supports them cannot be told, so ``supported`` is false.
        entities: The entities that were found.
        facts: The relations that were found.
        message_id: Id of the message that records the answer, in a conversation.
        details: Data of single strategies: paths and gaps of DRIFT; ``cut`` if the model stopped early:
            ``length`` (out of tokens) or ``content_filter``; ``not_recorded``: why its conversation does not have it.
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
    untold: tuple[str, ...] = ()
    entities: tuple[FoundEntity, ...] = ()
    facts: tuple[FoundFact, ...] = ()
    message_id: str | None = None
    details: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the text."""
        return self.text

    @property
    def final_message(self) -> str:
        """``text``: its name in the result of a flow."""
        return self.text

    @property
    def mermaid_diagram(self) -> str:
        """``mermaid``: its name in the result of a flow."""
        return self.mermaid
