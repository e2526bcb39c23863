"""Checks of a finished answer: its citations, and whether the passages support its claims."""
