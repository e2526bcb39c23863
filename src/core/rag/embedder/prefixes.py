"""What known embedding models want to read before a question and before a text that is searched.

Many models are trained with an instruction in front of each input and find clearly less without it, but a server with
the OpenAI protocol does not add it. The table follows the model cards on https://huggingface.co.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from libs.regexes import regex

if TYPE_CHECKING:
    from core.rag.settings import Settings

#: The value of a setting for a prefix that says that there is none: an empty variable counts as not set.
NO_PREFIX: Final = "none"


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What is put before inputs, blanks included.

    Attributes:
        query: Before a question.
        text: Before a text that is searched; vectors with another one cannot be compared.
    """

    query: str = ""
    text: str = ""


_REPRESENT: Final = "Represent this sentence for searching relevant passages: "
_RETRIEVE: Final = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"

# Searched in the name in lower case, without what comes before the last slash and after a colon; the first one counts.
_FAMILIES: Final = tuple(
    (regex(pattern), prefixes)
    for pattern, prefixes in (
        (r"\bnomic-embed-text", Prefixes("search_query: ", "search_document: ")),
        (r"\be5-.*instruct", Prefixes(_RETRIEVE + " ")),
        (r"\be5-(small|base|large)", Prefixes("query: ", "passage: ")),
        (r"\bbge-(small|base|large)-en\b", Prefixes(_REPRESENT)),
        (r"\bbge-(small|base|large)-zh\b", Prefixes("为这个句子生成表示以用于检索相关文章：")),
        (r"\bmxbai-embed-large", Prefixes(_REPRESENT)),
        (r"\barctic-embed(2|.*-v2\.0)", Prefixes("query: ")),
        (r"\barctic-embed", Prefixes(_REPRESENT)),
        (r"\bqwen3-embedding", Prefixes(_RETRIEVE)),
        (r"\bembeddinggemma", Prefixes("task: search result | query: ", "title: none | text: ")),
    )
)


def known_prefixes(model: str) -> Prefixes:
    """Return what a model wants to read before its inputs, by its name on a server; nothing for an unknown one.

    Example:
        >>> known_prefixes("nomic-embed-text:latest").query
        'search_query: '
    """
    name = model.rpartition("/")[2].partition(":")[0].lower().replace("_", "-")
    return next((prefixes for pattern, prefixes in _FAMILIES if pattern.search(name)), Prefixes())


def prefixes_of(model: str, settings: Settings, query: str | None, text: str | None) -> Prefixes:
    """Return what is put before the inputs of a model.

    Args:
        model: Its name.
        settings: MGRAG_EMBEDDING_QUERY_PREFIX and MGRAG_EMBEDDING_TEXT_PREFIX go before what is known of it.
        query: What the caller wants before a question, if anything; goes before the settings.
        text: The same before a text.
    """
    known = known_prefixes(model)
    return Prefixes(
        _first_set(query, settings.embedding_query_prefix, known.query),
        _first_set(text, settings.embedding_text_prefix, known.text),
    )


def _first_set(given: str | None, setting: str | None, known: str) -> str:
    if given is not None:
        return given
    if setting is not None:
        return "" if setting == NO_PREFIX else setting
    return known
