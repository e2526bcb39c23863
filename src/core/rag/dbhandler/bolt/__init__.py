"""Servers that speak Bolt, Memgraph and Neo4j: the store, and the dialects of their Cypher."""
