"""A small graph about people at work, as extraction writes it."""

from __future__ import annotations

from answering.drift_graph import Fact, put_entities
from core.rag import KnowledgeBase
from libs.dataloader import Document

DOCUMENTS = {
    "people/alice.md": (
        "Alice",
        "Alice is a software engineer at Google. She started working at Google in 2020. Alice worked on the Lighthouse "
        "project and on search quality.",
    ),
    "people/bob.md": (
        "Bob",
        "Bob is a product manager at Microsoft. Bob and Alice worked together on the search optimization project. "
        "Before that, Bob lived in Oslo.",
    ),
    "projects/lighthouse.md": (
        "Lighthouse",
        "Lighthouse is a project that audits web pages. Its first version was written in 2016. Alice leads it today.",
    ),
    "garden/roses.md": ("Roses", "Roses want sun. Prune them in spring. Water them in the morning."),
}
ENTITIES = {
    "Alice": "Software Engineer at Google",
    "Bob": "Product Manager at Microsoft",
    "Google": "A company in Mountain View",
    "Microsoft": "A company in Redmond",
    "Lighthouse": "A project that audits web pages",
}


async def fill(kb: KnowledgeBase) -> dict[str, str]:
    """Ingest the documents and add what is known of the people; gives the ids of entities by name."""
    await kb.ingest(Document(path=path, content=content, title=title) for path, (title, content) in DOCUMENTS.items())
    chunks = {path: (await kb.client.get_document_chunks(path))[0]["chunk_id"] for path in DOCUMENTS}
    facts = [
        Fact(
            "Alice", "Google", "WORKS_FOR", 0.9, "Alice started working at Google in 2020", [chunks["people/alice.md"]]
        ),
        Fact(
            "Bob",
            "Alice",
            "COLLABORATES_WITH",
            0.8,
            "They worked together on the search optimization project",
            [chunks["people/bob.md"]],
        ),
        Fact("Bob", "Microsoft", "WORKS_FOR", 0.7, "Bob is a product manager", [chunks["people/bob.md"]]),
        Fact("Alice", "Lighthouse", "LEADS", 0.6, "Alice leads Lighthouse", [chunks["projects/lighthouse.md"]]),
    ]
    return await put_entities(kb.client, ENTITIES, facts)
