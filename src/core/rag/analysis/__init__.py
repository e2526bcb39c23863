"""From text to the words that are indexed and searched."""

from core.rag.retrieval.analysis import analyze, index_terms, query_terms

#: Counts up whenever the same text gives other words, so that documents are analysed again.
ANALYSIS_VERSION = 1

__all__ = ["ANALYSIS_VERSION", "analyze", "index_terms", "query_terms"]
