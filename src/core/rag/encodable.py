"""Texts that can be encoded, as every engine, tokenizer and protocol needs them."""

from __future__ import annotations


def encodable(text: str) -> str:
    """Replace lone surrogates (half an emoji, a byte that is not UTF-8) by U+FFFD; the same text if there are none."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    return text
