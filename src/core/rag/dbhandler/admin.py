"""Looking at the graph as a whole."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from core.rag.dbhandler.vectors import VectorStoreOperations
from core.rag.schema import EdgeType, Label


class AdminOperations(VectorStoreOperations):
    """Counts and state of the graph."""

    async def counts(self) -> dict[str, dict[str, int]]:
        """How many nodes and edges the namespace has.

        Returns:
            ``{"nodes": {label: count}, "edges": {type: count}}``, without those that there are none of.
        """
        nodes: dict[str, int] = {}
        for label in Label:
            rows = await self.read(f"MATCH (n:{label}) WHERE n.namespace = $namespace RETURN count(n) AS n")
            if rows[0]["n"]:
                nodes[label.value] = rows[0]["n"]
        edges: dict[str, int] = {}
        for edge in EdgeType:
            rows = await self.read(f"MATCH (n)-[r:{edge}]->() WHERE n.namespace = $namespace RETURN count(r) AS n")
            if rows[0]["n"]:
                edges[edge.value] = rows[0]["n"]
        return {"nodes": nodes, "edges": edges}

    async def status(self) -> dict[str, Any]:
        """Engine, counts and vector stores of the namespace."""
        store = await self.connect()
        return {
            "engine": asdict(store.capabilities),
            "namespace": self._namespace,
            **await self.counts(),
            "vector_stores": [asdict(info) for info in await self.vector_stores()],
        }
