"""Text analysis: the words that are indexed and searched, the same for documents, questions and all engines."""

from core.rag.analysis.analyzer import (
    MAX_QUERY_CHARACTERS,
    MAX_QUERY_TERMS,
    TITLE_WEIGHT,
    analyze,
    file_word,
    index_terms,
    joined_terms,
    letters,
    naming_terms,
    query_terms,
    short_stems,
)
from core.rag.analysis.dates import asked_dates, date_words, path_dates
from core.rag.analysis.definitions import asked_name, asked_names, asked_words, defined_words, definition_word
from core.rag.analysis.left_out import option_words
from core.rag.analysis.measures import measured
from core.rag.analysis.numbered import (
    asked_documents,
    asked_numbers,
    document_numbers,
    document_words,
    heading_numbers,
    number_of,
    without_number,
)

#: Raised whenever the same text gives other words, so that documents are analysed again.
ANALYSIS_VERSION = 16

__all__ = [
    "ANALYSIS_VERSION",
    "MAX_QUERY_CHARACTERS",
    "MAX_QUERY_TERMS",
    "TITLE_WEIGHT",
    "analyze",
    "asked_dates",
    "asked_documents",
    "asked_name",
    "asked_names",
    "asked_numbers",
    "asked_words",
    "date_words",
    "defined_words",
    "definition_word",
    "document_numbers",
    "document_words",
    "file_word",
    "heading_numbers",
    "index_terms",
    "joined_terms",
    "letters",
    "measured",
    "naming_terms",
    "number_of",
    "option_words",
    "path_dates",
    "query_terms",
    "short_stems",
    "without_number",
]
