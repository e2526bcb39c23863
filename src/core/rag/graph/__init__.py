"""The knowledge graph: nodes that callers make, entities that ingest finds, and ways to walk, search and draw them."""
