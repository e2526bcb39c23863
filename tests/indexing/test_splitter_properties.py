"""What holds for every text, format and size."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
import regex
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from core.rag.indexing import TextSplitter
from core.rag.indexing.splitting.tokens import even_tokens
from libs.dataloader.types import Document, DocumentChunk

EXAMPLES = 120
FORMATS = ["text", "markdown", "table", "records", "rst", "code:python", "code:typescript", "code:c", "code:kotlin",
           "code:yaml"]  # fmt: skip

FRAGMENTS = [
    "word ", "Wörter, ", "a", "b", " ", "  ", "\t", "\n", "\n\n", "\r\n", "\r", "\n   \n", "\f", "\u2028",
    "\x85", "\x00", "A sentence ends here. ", "Does it? ", "“Yes!” ", "e.g. this one", "第一句。", "漢字かな交じり文",
    "ภาษาไทยไม่มีช่องว่าง", "e\u0301", "\u0301", "👩‍👩‍👧", "👍🏽", "🇩🇪", "🇫", "\u200d", "각",
    "\u1100\u1161\u11a8", "नमस्ते", "\ufeff", "# Heading\n", "## **Sub** heading ##\n", "###### deep\n",
    "#hashtag ", "Title\n=====\n", "Part\n---\n", "---\n", "```python\n", "```\n", "~~~~\n",
    "# not a heading\n", "<!-- ", "-->\n", "<pre>\n", "</pre>\n", "| a | b |\n", "| --- | :-: |\n",
    "| 1 | x \\| y |\n", "- item\n", "1. first\n", "> quote\n", "    indented\n", "<s>", "</s>", "▁",
    "http://example.org/a?b=c ", "def f(x):\n    return x\n", "class A:\n", "    def g(self):\n",
    "        pass\n", "}\n", "{\n", "// comment\n", "fun main() {\n", "int f(int a) {\n  return a;\n}\n",
    "x" * 40, "0123456789" * 5, "=" * 30, "-" * 30, "é" * 30,
]  # fmt: skip

nasty = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=12)), max_size=40).map("".join)
repeated = st.builds(
    lambda fragment, times: fragment * times, st.one_of(st.sampled_from(FRAGMENTS), st.text(min_size=1, max_size=4)),
    st.integers(1, 120),
)  # fmt: skip
texts = st.one_of(nasty, repeated, st.text(), st.builds(lambda a, b, c: a + b + c, nasty, repeated, nasty))

COUNTERS: dict[str, Callable[[str], int] | None] = {
    "default": None,
    "even": even_tokens,
    "characters": len,
    "bytes": lambda text: len(text.encode()),
    "words": lambda text: len(text.split()),
    "squares": lambda text: len(text) ** 2 // 16,
    "nothing": lambda text: 0,
}


@st.composite
def splitters(draw: st.DrawFn) -> TextSplitter:
    size = draw(st.one_of(st.integers(1, 12), st.integers(8, 300)))
    return TextSplitter(
        size,
        draw(st.integers(0, size - 1)),
        draw(st.sampled_from(["\n", "\n\n", " ", "", "a", "---", ". "])),
        whole_size=draw(st.sampled_from([None, size, size + 1, 2 * size])),
        count_tokens=COUNTERS[draw(st.sampled_from(sorted(COUNTERS)))],
    )


def split(splitter: TextSplitter, text: str, kind: str) -> list[DocumentChunk]:
    return splitter.split(Document(path="note", content=text, format=kind), "id")


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(splitter=splitters(), text=texts, kind=st.sampled_from(FORMATS))
def test_chunks_are_slices_in_order_that_cover_the_document(splitter: TextSplitter, text: str, kind: str) -> None:
    chunks = split(splitter, text, kind)
    reached = 0
    for index, chunk in enumerate(chunks):
        assert text[chunk.start_char : chunk.end_char] == chunk.content != ""
        assert chunk.start_char <= reached < chunk.end_char
        assert index == 0 or chunk.start_char > chunks[index - 1].start_char
        assert chunk.metadata.chunk_index == index
        assert chunk.metadata.chunk_count == len(chunks)
        reached = chunk.end_char
    assert reached == len(text)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(splitter=splitters(), text=texts, kind=st.sampled_from(FORMATS))
def test_no_chunk_is_longer_than_allowed_but_for_single_characters(
    splitter: TextSplitter, text: str, kind: str
) -> None:
    chunks = split(splitter, text, kind)
    most = splitter.whole_size if len(chunks) == 1 else splitter.chunk_size
    for chunk in chunks:
        assert splitter.count_tokens(chunk.content) <= most or len(chunk.content) == 1


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(splitter=splitters(), text=texts, kind=st.sampled_from(FORMATS))
@example(splitter=TextSplitter(2, 1, count_tokens=lambda text: len(text.split())), text="000000 0\n--\n", kind="table")
def test_neighbours_share_no_more_than_allowed_and_nothing_across_headings(
    splitter: TextSplitter, text: str, kind: str
) -> None:
    for chunk, following in itertools.pairwise(split(splitter, text, kind)):
        shared = text[following.start_char : chunk.end_char]
        if shared:
            assert splitter.count_tokens(shared) <= splitter.chunk_overlap
            assert chunk.heading == following.heading
            assert kind != "table" or "\n" not in shared.strip()
            assert kind != "records" or not regex.search(r"\n[ \t]*\n", shared.strip())


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=texts, kind=st.sampled_from(FORMATS), size=st.integers(100, 300), overlap=st.integers(0, 40))
def test_grapheme_clusters_stay_whole_where_they_fit(text: str, kind: str, size: int, overlap: int) -> None:
    splitter = TextSplitter(size, overlap)
    clusters = [match.span() for match in regex.finditer(r"\X", text)]
    whole = {0, len(text)} | {
        place for start, end in clusters if splitter.count_tokens(text[start:end]) <= size for place in (start, end)
    }
    forbidden = {
        place
        for start, end in clusters
        if splitter.count_tokens(text[start:end]) <= size
        for place in range(start + 1, end)
    }
    for chunk in split(splitter, text, kind):
        assert chunk.start_char not in forbidden, whole
        assert chunk.end_char not in forbidden, whole


@settings(max_examples=EXAMPLES, deadline=None)
@given(splitter=splitters(), text=texts)
def test_split_text_gives_the_chunks_of_plain_text(splitter: TextSplitter, text: str) -> None:
    assert splitter.split_text(text) == [chunk.content for chunk in split(splitter, text, "text")]


@settings(max_examples=EXAMPLES, deadline=None)
@given(data=st.data(), text=texts, kind=st.sampled_from(FORMATS))
def test_lone_surrogates_do_no_harm(data: st.DataObject, text: str, kind: str) -> None:
    place = data.draw(st.integers(0, len(text)))
    text = text[:place] + data.draw(st.sampled_from(["\ud800", "\udc00x", "\ud83d\ude00" * 30])) + text[place:]
    splitter = TextSplitter(64, 8)
    chunks = split(splitter, text, kind)
    assert (
        "".join(
            chunk.content[max(0, before - chunk.start_char) :]
            for before, chunk in zip([0, *(chunk.end_char for chunk in chunks)], chunks, strict=False)
        )
        == text
    )
    assert not any("\ud800" <= chunk.content[-1] <= "\udbff" and text[chunk.end_char :][:1] >= "\udc00"
                   and text[chunk.end_char :][:1] <= "\udfff" for chunk in chunks)  # fmt: skip


def test_a_chunk_size_of_one_ends_in_single_characters() -> None:
    assert TextSplitter(1, 0).split_text("a:: b") == list("a:: b")


@pytest.mark.parametrize("kind", FORMATS)
def test_an_empty_document_has_no_chunks(kind: str) -> None:
    assert split(TextSplitter(), "", kind) == []
    assert TextSplitter().split_text("") == []
