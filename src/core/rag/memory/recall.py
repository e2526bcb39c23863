"""Recalls memories: selects sessions, reads each once, and ranks their turns.

Few memories are ranked all. Where there are many, the indexes of the namespace say which sessions to look at, and the
turns of those are ranked: what a recall costs does not grow with what is remembered. What an index finds is compared
with the sessions asked for before anything else is done with it, and the search goes deeper until enough of it belongs
to them, so other people's memories can neither come back nor crowd out what is looked for.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from core.rag.analysis import analyze, index_terms, query_terms
from core.rag.dbhandler.deeper import deeper
from core.rag.dbhandler.messages.rows import last_said, speaker_of
from core.rag.dbhandler.store import GraphStore, Row
from core.rag.embedder.likeness import likeness
from core.rag.memory.dates import date_words, days_named
from core.rag.memory.period import ALWAYS, Within
from core.rag.memory.ranking import Meaning, Ranked, rank
from core.rag.memory.records import Memory
from core.rag.memory.sessions import Session, embedded, session_of, state_of
from core.rag.memory.worth import ASSISTANTS
from core.rag.retrieval.wording.short_words import short_words
from core.rag.schema import Label
from core.rag.times import here_and_now
from core.rag.together import together

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.vectors import VectorStoreInfo
    from core.rag.retrieval.filters import Filter

#: Up to this many turns, all are ranked.
ALL_TURNS: Final = 2_000
#: With more turns, those of the best sessions are ranked: at least one, at most this many, up to this many turns.
MOST_SESSIONS: Final = 12
MOST_TURNS: Final = 2_000
#: Number of turns that each index is asked for at first.
_FIRST_LOOK: Final = 100
#: How many times more it is asked for where too few of these belong to the sessions.
_DEEPER: Final = 7
#: Maximum number of turns of an open graph that are kept in memory between recalls, 4 KB each.
_CACHED_TURNS: Final = 20_000


#: Roles that do not name a speaker.
_ROLES: Final = ASSISTANTS | {"user", "human", "summary"}


@lru_cache(maxsize=1024)
def speaker_words(role: str) -> tuple[str, ...]:
    """Return the analysed words of a speaker's role; none for roles that name nobody."""
    return () if role.casefold() in _ROLES else tuple(index_terms(None, None, role).split())


class Recaller:
    """Finds memories in the namespaces of one graph. Sessions that did not change are read once."""

    def __init__(self) -> None:
        #: By id of the session node, and of the vector store of the vectors.
        self._sessions: OrderedDict[tuple[str, str], Session] = OrderedDict()
        self._turns = 0

    async def recall(
        self,
        client: MemGraphClient,
        query: str,
        meaning: Meaning | None,
        limit: int,
        scope: Sequence[Row] | None,
        period: Within = ALWAYS,
        among: frozenset[str] | None = None,
    ) -> list[Ranked]:
        """Recall the memories that fit a question best.

        Args:
            client: The graph.
            query: The question.
            meaning: What it means; ``None``: words only.
            limit: Maximum number to return.
            scope: ``node_id``, ``revision`` and ``message_count`` of the sessions to search; ``None``: all.
            period: When it was said.
            among: Ids of the only memories that are wanted; ``None``: all.
        """
        terms = [*query_terms(query), *await short_words(client, query, Label.INTERACTION)]
        if scope is None or sum(row["message_count"] for row in scope) > ALL_TURNS:
            chosen = await self._choose(client, terms, meaning, limit, scope, period, among)
        else:
            chosen = list(scope)
        sessions = await self.read(client, chosen, meaning.store if meaning is not None else None)
        terms += [word for word in days_named(query, here_and_now()) if word not in terms]
        return await asyncio.to_thread(rank, sessions, terms, meaning, limit, period, among)

    async def read(self, client: MemGraphClient, wanted: Sequence[Row], store: VectorStoreInfo | None) -> list[Session]:
        """Return the sessions in their current state."""
        vectors_of = "" if store is None else store.id
        # Referenced here, since concurrent recalls may drop them from the cache.
        found: dict[str, Session] = {}
        for row in wanted:
            session = self._sessions.get((row["node_id"], vectors_of))
            if session is not None and session.revision == row["revision"]:
                found[session.node] = session
        missing = [row for row in wanted if row["node_id"] not in found]
        if missing:
            nodes = [row["node_id"] for row in missing]
            # Of sessions that have changed, only the vectors of new turns are read: who remembers and recalls in turn
            # would read those of the whole session each time. A message has its vector until it is revised.
            before = {node: self._sessions[node, vectors_of] for node in nodes if (node, vectors_of) in self._sessions}
            new = [node for node in nodes if node not in before]
            rows, vectors = await together(client.session_rows(nodes), _vectors(client, new, store))
            if store is not None and before:
                kept = {turn for session in before.values() for turn in embedded(session)}
                added = [row["id"] for row in rows if row["session"] in before and state_of(row) not in kept]
                vectors |= await client.message_vectors(added, store)
            by_node: dict[str, list[Row]] = {node: [] for node in nodes}
            for row in rows:
                row["tags"] = [analyze(tag) for tag in row["tags"] or []]
                days = dict.fromkeys((row["day"] or row["timestamp"][:10], *_last_day(row)))
                row["around"] = (
                    *speaker_words(row["role"]),
                    *dict.fromkeys(chain.from_iterable(map(date_words, days))),
                )
                by_node[row["session"]].append(row)
            for row in missing:
                own = sorted(by_node[row["node_id"]], key=lambda turn: turn["sequence"])
                known = {turn["id"]: vectors[turn["id"]] for turn in own if turn["id"] in vectors}
                found[row["node_id"]] = session_of(
                    row["node_id"], row["revision"], own, known, before.get(row["node_id"])
                )
        self._keep([found[row["node_id"]] for row in wanted], vectors_of)
        return [found[row["node_id"]] for row in wanted]

    def _keep(self, sessions: Sequence[Session], vectors_of: str) -> None:
        """Cache sessions as the most recently used ones, and drop the least recently used ones."""
        for session in sessions:
            before = self._sessions.pop((session.node, vectors_of), None)
            self._turns += len(session.states) - (len(before.states) if before else 0)
            self._sessions[session.node, vectors_of] = session
        while self._turns > _CACHED_TURNS and len(self._sessions) > 1:
            self._turns -= len(self._sessions.popitem(last=False)[1].states)

    async def _choose(
        self,
        client: MemGraphClient,
        terms: Sequence[str],
        meaning: Meaning | None,
        limit: int,
        scope: Sequence[Row] | None,
        period: Within,
        among: frozenset[str] | None,
    ) -> list[Row]:
        """Return the sessions in which the indexes find the most, best first."""
        nodes = None if scope is None else {row["node_id"] for row in scope}

        def allowed(message: str, row: Row) -> bool:
            if (nodes is not None and row["node_id"] not in nodes) or (among is not None and message not in among):
                return False
            return bool(period.last_said(row["timestamp"], last_said(row)))

        async def by_words(wanted: int) -> list[tuple[str, float]]:
            matches = await client.match_terms(dict.fromkeys(terms, 1.0), wanted, Label.INTERACTION)
            return [(match.id, match.score) for match in matches]

        async def by_meaning(wanted: int) -> list[tuple[str, float]]:
            if meaning is None:
                return []
            matches = await client.match_vectors(meaning.store, meaning.vector, wanted, Label.INTERACTION)
            messages = await client.messages_of_vectors([match.id for match in matches])
            return [(messages.get(match.id, ""), max(likeness(match.score, meaning.usual), 0.0)) for match in matches]

        words, meanings = await together(
            _enough(client, by_words, _FIRST_LOOK, limit, allowed),
            _enough(client, by_meaning, _FIRST_LOOK // 2, limit, allowed),
        )
        strength: dict[str, float] = {}
        rows: dict[str, Row] = {}
        for found in (words, meanings):
            top = max((score for _, score in found), default=0.0)
            best: dict[str, float] = {}
            for row, score in found:
                rows[row["node_id"]] = row
                best[row["node_id"]] = max(best.get(row["node_id"], 0.0), score / top if top > 0 else 0.0)
            for node, share in best.items():
                strength[node] = strength.get(node, 0.0) + share
        order = sorted(rows.values(), key=lambda row: (-strength[row["node_id"]], row["node_id"]))
        chosen: list[Row] = []
        turns = 0
        for row in order[: max(MOST_SESSIONS, limit)]:
            if chosen and turns + row["message_count"] > MOST_TURNS:
                break
            chosen.append(row)
            turns += row["message_count"]
        return chosen


async def _enough(
    client: MemGraphClient,
    look: Callable[[int], Awaitable[list[tuple[str, float]]]],
    first: int,
    limit: int,
    allowed: Callable[[str, Row], bool],
) -> list[tuple[Row, float]]:
    """Return the sessions of the messages that an index finds, with the score of each message, best first.

    Args:
        client: The graph.
        look: Returns so many messages, by id, with their scores.
        first: How many it is asked for at first, at least.
        limit: So many are enough, if there are more.
        allowed: Whether a message of a session may be recalled.
    """
    found: list[tuple[Row, float]] = []
    for wanted in deeper(max(first, 4 * limit), _DEEPER):
        matches = await look(wanted)
        sessions = await client.sessions_of_messages([message for message, _ in matches])
        found = [
            (sessions[message], score)
            for message, score in matches
            if message in sessions and allowed(message, sessions[message])
        ]
        if len(found) >= limit or len(matches) < wanted:
            break
    return found


async def latest(
    client: MemGraphClient,
    scope: Sequence[Row] | None,
    tags: Sequence[str],
    period: Within,
    person: str | None,
    metadata: Filter,
    wanted: int | None = None,
) -> list[Row]:
    """List what was said, the latest first, as rows of :meth:`MemGraphClient.said_in`.

    Args:
        client: The graph.
        scope: The sessions, by ``node_id``; ``None``: all.
        tags: Only what has all of these tags; of one with commas, all parts.
        period: Only what was said then.
        person: Only what this user said; ``None``: what anybody said.
        metadata: Only what passes.
        wanted: So many are enough, if there are more; ``None``: all.
    """
    tagged = _apart(tags)
    nodes = None if scope is None else [row["node_id"] for row in scope]
    newest = None if wanted is None else max(_FIRST_LOOK, 4 * wanted)
    while True:
        said = await client.said_in(nodes, metadata=bool(metadata), newest=newest)
        times = {row["id"]: period.last_said(row["timestamp"], last_said(row)) for row in said}
        found = [
            row
            for row in said
            if times[row["id"]]
            and (not tagged or tagged <= _apart(row["tags"] or ()))
            and person in (None, speaker_of(row, row["owner"]))
            and metadata.matches(row)
        ]
        found.sort(key=lambda row: (times[row["id"]], row["id"]), reverse=True)
        if newest is None or wanted is None or len(said) < newest:
            return found
        # All others were said last at this time, or before it.
        oldest = min(map(last_said, said))
        certain = [row for row in found if times[row["id"]] > oldest]
        if len(certain) >= wanted or oldest < period.since:
            return certain
        newest *= _DEEPER


def _apart(tags: Iterable[str]) -> frozenset[str]:
    """Return tags for comparison: "work, travel" is two, as models and people write several in one text."""
    return frozenset(part for tag in tags for part in (one.strip() for one in tag.casefold().split(",")) if part)


async def said_once(
    client: MemGraphClient,
    ranked: Callable[[int], Awaitable[list[Ranked]]],
    limit: int,
    scope: Sequence[Row] | None,
    period: Within,
    person: str | None,
    accessed: str,
) -> list[Memory]:
    """Return the best memories, each once: of those in which somebody said the same, the last.

    Args:
        client: The graph.
        ranked: Returns about this many memories, best first.
        limit: Maximum number to return.
        scope: ``id`` and ``user_id`` of the sessions; ``None``: all.
        period: Only what was said then.
        person: Only what this user said; ``None``: what anybody said.
        accessed: When they were recalled; empty: it does not count.
    """
    owners = {row["id"]: row["user_id"] for row in scope or ()}
    wanted = limit
    while True:
        best = await ranked(wanted)
        messages = await client.messages_by_id([item.id for item in best])
        if scope is None:
            sessions = await client.sessions_of_messages([item.id for item in best])
            owners = {row["session_id"]: sessions[i]["user_id"] for i, row in messages.items() if i in sessions}
        own: dict[tuple[str, str, str], tuple[str, str, float | None]] = {}
        for item in best:
            if message := messages.get(item.id):
                speaker = speaker_of(message, owners.get(message["session_id"]))
                if person in (None, speaker):
                    words = (speaker, message["role"], message["content"])
                    time = period.last_said(message["timestamp"], message["last_said_at"])
                    last, identifier, relevance = own.get(words, ("", "", item.relevance))
                    own[words] = (*max((last, identifier), (time, item.id)), relevance)
        if len(own) >= limit or len(best) < wanted:
            break
        wanted *= 4  # some of these may be by other speakers, or have the same words
    reasons = {item.id: item.because for item in best}
    return [
        Memory.of(messages[i], owners.get(messages[i]["session_id"]), relevance, accessed, reasons[i])
        for _, i, relevance in list(own.values())[:limit]
    ]


_recallers: WeakKeyDictionary[GraphStore, Recaller] = WeakKeyDictionary()


def _last_day(row: Row) -> tuple[str, ...]:
    """Return the day on which what was said several times was said last."""
    last: str | None = row["last_said_at"]
    return (last[:10],) if last and last != row["timestamp"] else ()


async def recaller_of(client: MemGraphClient) -> Recaller:
    """Return what finds memories in the graph of a client."""
    return _recallers.setdefault(await client.connect(), Recaller())


async def _vectors(
    client: MemGraphClient, nodes: Sequence[str], store: VectorStoreInfo | None
) -> dict[str, list[float]]:
    return {} if store is None else await client.session_vectors(nodes, store)
