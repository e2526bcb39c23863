"""The part of :class:`core.rag.KnowledgeBase` that answers questions."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self, get_args, overload

from core.rag.arguments import check_flags, check_number, check_optional, check_text
from core.rag.errors import InvalidInputError

if TYPE_CHECKING:
    from core.rag.answering.events import Event
    from core.rag.answering.types import Answer
    from core.rag.dbhandler import MemGraphClient
    from core.rag.llm import LanguageModel
    from core.rag.settings import Settings

StrategyName = Literal["auto", "flow", "basic", "drift", "overview"]
STRATEGIES: tuple[StrategyName, ...] = get_args(StrategyName)

MAX_QUESTION_CHARS = 20_000
MAX_PASSAGES = 100
MIN_TOKEN_BUDGET = 200


class Answers:
    """The part of :class:`core.rag.KnowledgeBase` that answers questions."""

    _client: MemGraphClient
    _settings: Settings
    _language_model: LanguageModel | None = None
    #: The knowledge base that this one shares the model with, and that closes it.
    _first: Answers | None = None

    @property
    def language_model(self) -> LanguageModel | None:
        """The model that writes answers; ``None`` if MGRAG_LLM_MODEL is not set.

        Raises:
            ConfigurationError: if a model is set, but neither a key nor an endpoint.
        """
        if self._first is not None:
            return self._first.language_model
        if self._language_model is None:
            from core.rag.llm import open_language_model

            self._language_model = open_language_model(settings=self._settings)
        return self._language_model

    if TYPE_CHECKING:

        def in_namespace(self, namespace: str) -> Self: ...

    @overload
    async def ask(
        self,
        question: str,
        strategy: StrategyName = "auto",
        conversation_id: str | None = None,
        stream: Literal[False] = False,
        *,
        k: int = 5,
        filters: str | Mapping[str, Any] | None = None,
        user_id: str | None = None,
        namespace: str | None = None,
        token_budget: int | None = None,
        extracts: bool = False,
        instructions: str | None = None,
        record: bool = True,
    ) -> Answer: ...

    @overload
    async def ask(
        self,
        question: str,
        strategy: StrategyName = "auto",
        conversation_id: str | None = None,
        *,
        stream: Literal[True],
        k: int = 5,
        filters: str | Mapping[str, Any] | None = None,
        user_id: str | None = None,
        namespace: str | None = None,
        token_budget: int | None = None,
        extracts: bool = False,
        instructions: str | None = None,
        record: bool = True,
    ) -> AsyncGenerator[Event, None]: ...

    async def ask(
        self,
        question: str,
        strategy: StrategyName = "auto",
        conversation_id: str | None = None,
        stream: bool = False,
        *,
        k: int = 5,
        filters: str | Mapping[str, Any] | None = None,
        user_id: str | None = None,
        namespace: str | None = None,
        token_budget: int | None = None,
        extracts: bool = False,
        instructions: str | None = None,
        record: bool = True,
    ) -> Answer | AsyncGenerator[Event, None]:
        """Answer a question from the documents, with citations.

        Args:
            question: The question, in any words.
            strategy: ``flow`` (entities, relations and passages), ``basic`` (passages by vector), ``drift`` (follows
                relations over several steps), ``overview`` (the beginnings of documents that stand for all, or
                parts of one that the question names), or ``auto``: ``overview`` for a question about all documents
                ("What is this about?") or one as a whole, ``drift`` for one of several steps if the graph has
                relations, else ``flow``.
            conversation_id: The conversation that the question belongs to; created if missing. The question, the
                retrieved passages and the answer are recorded in it.
            stream: Return the events of :meth:`ask_stream` instead.
            k: How many passages to search for, 1 to 100.
            filters: Only passages of documents that pass; see :meth:`core.rag.KnowledgeBase.search`.
            user_id: Who asks; in a conversation, question and answer are this user's.
            namespace: Answer from this namespace instead; the conversation belongs to it, too.
            token_budget: Maximum number of tokens in the context of the model; ``None``: 6,000.
            extracts: Answer with sentences from the passages, even if there is a language model.
            instructions: What else to tell the model about the answer: its language, length, form, or whom it is for.
                It goes into the prompt as it is, so never take it from strangers. ``None``:
                ``MGRAG_ANSWER_INSTRUCTIONS``.
            record: Whether question and answer are recorded in the conversation. ``False``: it has to exist, and is
                only read.

        Returns:
            The answer. Without a language model it consists of sentences from the passages, and says so.

        Raises:
            InvalidInputError: on an argument that is invalid.
            NotFoundError: if there is no such conversation, and nothing is to be recorded.
            LanguageModelError: if the model fails; ``StreamCutError`` holds what was received.
            EmbeddingError: if the embedding provider fails.
            StoreError: if the graph does.
        """
        from core.rag.answering.events import final_answer

        check_flags(stream=stream)
        given: dict[str, Any] = {"k": k, "filters": filters, "user_id": user_id, "namespace": namespace}
        given |= {"token_budget": token_budget, "extracts": extracts, "record": record, "instructions": instructions}
        events = self._events(question, strategy, conversation_id, told=stream, **given)
        return events if stream else await final_answer(events)

    def ask_stream(
        self,
        question: str,
        strategy: StrategyName = "auto",
        conversation_id: str | None = None,
        *,
        k: int = 5,
        filters: str | Mapping[str, Any] | None = None,
        user_id: str | None = None,
        namespace: str | None = None,
        token_budget: int | None = None,
        extracts: bool = False,
        instructions: str | None = None,
        record: bool = True,
    ) -> AsyncGenerator[Event, None]:
        """Answer a question and stream its steps as events; the arguments are those of :meth:`ask`.

        Close the generator (``contextlib.aclosing``) when leaving early; this, or cancelling the task, stops the model.
        In a conversation, the text until then is recorded, as an answer with ``{"cut": "stopped"}`` in its metadata
        (``failed`` if the model broke off).

        Returns:
            An ``AnalysisEvent``, a ``RetrievalEvent``, a ``TokenEvent`` for each part of the text, a ``CitationEvent``
            for each source, and finally a ``DoneEvent`` with the :class:`Answer`.

        Raises:
            InvalidInputError: on an argument that is invalid, at once; all other errors come with the events.
        """
        given: dict[str, Any] = {"k": k, "filters": filters, "user_id": user_id, "namespace": namespace}
        given |= {"token_budget": token_budget, "extracts": extracts, "record": record, "instructions": instructions}
        return self._events(question, strategy, conversation_id, told=True, **given)

    def _events(
        self,
        question: str,
        strategy: StrategyName,
        conversation_id: str | None,
        *,
        k: int,
        filters: str | Mapping[str, Any] | None,
        user_id: str | None,
        namespace: str | None,
        token_budget: int | None,
        extracts: bool,
        instructions: str | None,
        record: bool,
        told: bool,
    ) -> AsyncGenerator[Event, None]:
        """Check the arguments, and return the events; ``told``: whether the asker gets to see them."""
        from core.rag.answering.context import TOKEN_BUDGET
        from core.rag.answering.recording import recorded
        from core.rag.answering.services import Services
        from core.rag.answering.strategies import chosen_events
        from core.rag.dbhandler.messages.rows import checked_name
        from core.rag.llm.base import checked_model
        from core.rag.retrieval.filters import parse_filter

        _check(question, strategy, k, token_budget)
        check_optional(user_id=user_id, instructions=instructions)
        check_flags(extracts=extracts, record=record)
        parse_filter(filters)
        if conversation_id is not None:
            checked_name(conversation_id, "The id of the conversation")
        search = {"filters": filters, "user_id": user_id}
        services = Services(
            kb=self if namespace is None else self.in_namespace(namespace),  # type: ignore[arg-type]  # a KnowledgeBase
            model=None if extracts else checked_model(self.language_model, "stream"),
            search={name: value for name, value in search.items() if value is not None},
            passages=k,
            token_budget=token_budget or TOKEN_BUDGET,
            asked=not extracts,
            instructions=self._settings.answer_instructions if instructions is None else instructions,
        )
        question = question.encode("utf-8", "replace").decode().strip()
        # Which strategy "auto" is follows from the question that was meant, without typing errors.
        answering = partial(chosen_events, strategy)
        return recorded(answering, question, services, conversation_id, user_id, record=record, told=told)


def _check(question: str, strategy: str, k: int, token_budget: int | None) -> None:
    if not check_text("A question", question).strip():
        raise InvalidInputError("The question is empty.")
    if len(question) > MAX_QUESTION_CHARS:
        raise InvalidInputError(f"The question has {len(question)} characters; {MAX_QUESTION_CHARS} at most.")
    if strategy not in STRATEGIES:
        raise InvalidInputError(
            f"There is no strategy {str(strategy)[:50]!r}; the strategies are {', '.join(STRATEGIES)}."
        )
    check_number("k", k, 1, MAX_PASSAGES)
    if token_budget is not None:
        check_number("token_budget", token_budget, MIN_TOKEN_BUDGET)
