"""Searching: legs by vector, words and names, their fusion, filters, feedback, conversations, and the graph."""
