"""Goes on with a question that was worked out: "And in Ulm?", "How many of them are open?"."""

from __future__ import annotations

from dataclasses import replace

from core.rag.answering.computing.conditions import Condition
from core.rag.answering.computing.planning import Reading
from core.rag.answering.computing.plans import Plan
from core.rag.answering.computing.question import Question, Span
from core.rag.answering.computing.seen import Seen


def following(question: Question, seen: Seen, before: Plan) -> Plan | None:
    """Return what a question asks that goes on with another one; ``None`` if that is not sure.

    Args:
        question: The question.
        seen: The collection.
        before: What the question before it asked.
    """
    return _Following(question, seen).following(before)


class _Following(Reading):
    def following(self, before: Plan) -> Plan | None:
        opening = self._question.language.following.match(self._question.text)
        if opening is None:
            return None
        opened = Span(0, sum(start < opening.end() for start, _ in self._question.places))
        self._take(opened)
        self._find_names()
        self._free = list(self._names.fields)
        cues = {one.cue for one in self._cues} - {"per"}
        if "count" in cues and before.kind == "list":
            before = replace(before, kind="count")
        allowed = {"count"} if before.kind == "count" else set()
        if self._is_unclear() or self._is_of_asker() or cues - allowed:
            return None
        found = self.conditions()
        if not found or self._free or self._grouped() != "" or not self._is_covered():
            return None
        conditions = self._together(before.conditions, found, of_them=opening["of_them"] is not None)
        return self._sound(replace(before, conditions=conditions)) if conditions else None

    def _together(
        self, before: tuple[Condition, ...], found: list[Condition], *, of_them: bool
    ) -> tuple[Condition, ...]:
        """Return the conditions of a question that goes on with another one; empty if it is not clear which these are.

        "And in Ulm?" asks for another city. After a question about a city, "And in France?" is no further condition, as
        "And in 2024?" is.
        """
        named = {one.field for one in found}
        kept = tuple(one for one in before if one.field not in named)
        replaces = len(kept) < len(before)
        if of_them:
            return () if replaces else (*kept, *found)
        is_other = not replaces and any(map(self._is_value, before)) and any(map(self._is_value, found))
        return () if is_other else (*kept, *found)

    def _is_value(self, condition: Condition) -> bool:
        is_time = self._seen.fields[condition.field].is_date or self.is_year(condition.field)
        return condition.sign in {"=", "!="} and not is_time
