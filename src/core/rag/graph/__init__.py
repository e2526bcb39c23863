"""The knowledge graph: nodes of callers, entities found by ingest, and ways to traverse, search and draw them."""
