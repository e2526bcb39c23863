"""The knowledge graph: entities and what mentions them, facts, records, symbols, concepts and links."""
