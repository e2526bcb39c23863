"""Sentences, where answers look for them; see :mod:`core.rag.indexing.sentences`."""

from core.rag.indexing.sentences import is_heading, sentence_spans, sentences

__all__ = ["is_heading", "sentence_spans", "sentences"]
