"""Retrievers for other frameworks: ``llamaindex`` and ``langchain``. Each needs its extra, and is imported by name."""
