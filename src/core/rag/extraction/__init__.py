"""Extracts names from texts and records: pure functions, without the graph and without a model.

What is written of them is in :mod:`core.rag.dbhandler.knowledge.mentions`.
"""
