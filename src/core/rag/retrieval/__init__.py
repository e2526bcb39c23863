"""Ranking: keyword analysis, fusion, fuzzy matching and filters. Pure functions; the store does the I/O."""
