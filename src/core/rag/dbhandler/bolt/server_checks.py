"""The parts of a server check that are the same for every server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.rag.schema import Label, text_partition

if TYPE_CHECKING:
    from core.rag.dbhandler.store import GraphStore, Transaction

_AT_ONCE = 5_000


async def unmarked_nodes(store: GraphStore, *, repair: bool) -> list[str]:
    """Nodes that have words, but not the property by which the keyword index tells their namespace.

    Args:
        store: The graph.
        repair: Give it to them.

    Returns:
        One sentence for each label and namespace.
    """
    problems = []
    for label in Label:
        lacking = "n.terms IS NOT NULL AND n.namespace IS NOT NULL AND n.partition IS NULL"
        rows = await store.run(
            f"MATCH (n:{label}) WHERE {lacking} WITH n.namespace AS namespace, count(n) AS n RETURN namespace, n"
        )
        for row in sorted(rows, key=lambda row: str(row["namespace"])):
            problems.append(
                f"{row['n']} nodes of {label} in namespace {row['namespace']!r} cannot be found by their words."
            )
            parameters = {"namespace": row["namespace"], "partition": text_partition(row["namespace"])}

            async def work(
                tx: Transaction, label: Label = label, lacking: str = lacking, given: dict[str, str] = parameters
            ) -> int:
                rows = await tx.run(
                    f"MATCH (n:{label}) WHERE {lacking} AND n.namespace = $namespace WITH n LIMIT {_AT_ONCE} "
                    "SET n.partition = $partition RETURN count(n) AS n",
                    given,
                )
                return int(rows[0]["n"])

            marked = 1 if repair else 0
            while marked:
                marked = await store.transaction(work)
    return problems
