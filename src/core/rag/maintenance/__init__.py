"""Maintenance: status of a graph, consistency checks, copies, and changing the embedding model."""
