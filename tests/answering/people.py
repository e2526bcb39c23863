"""A small graph about people at work, as extraction writes it."""

from __future__ import annotations

from core.rag import KnowledgeBase
from core.rag.dbhandler.store import Transaction
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
#: From, type, to, weight, fact, and the document that says so.
FACTS = [
    ("Alice", "WORKS_FOR", "Google", 0.9, "Alice started working at Google in 2020", "people/alice.md"),
    (
        "Bob",
        "COLLABORATES_WITH",
        "Alice",
        0.8,
        "They worked together on the search optimization project",
        "people/bob.md",
    ),
    ("Bob", "WORKS_FOR", "Microsoft", 0.7, "Bob is a product manager", "people/bob.md"),
    ("Alice", "LEADS", "Lighthouse", 0.6, "Alice leads Lighthouse", "projects/lighthouse.md"),
]


async def fill(kb: KnowledgeBase) -> None:
    """Ingest the documents and add what is known of the people."""
    await kb.ingest(Document(path=path, content=content, title=title) for path, (title, content) in DOCUMENTS.items())
    chunks = {path: (await kb.client.get_document_chunks(path))[0]["chunk_id"] for path in DOCUMENTS}
    ids = {name: await kb.client.make_entity(name) for name in ENTITIES}

    async def work(tx: Transaction) -> None:
        await tx.run(
            "UNWIND $rows AS row MATCH (e:Entity {id: row.id}) SET e.summary = row.summary",
            {"rows": [{"id": ids[name], "summary": summary} for name, summary in ENTITIES.items()]},
        )
        await tx.run(
            "UNWIND $rows AS row MATCH (a:Entity {id: row.a}) MATCH (b:Entity {id: row.b}) "
            "CREATE (a)-[r:RELATED]->(b) SET r += row.props",
            {
                "rows": [
                    {
                        "a": ids[source],
                        "b": ids[target],
                        "props": {"type": kind, "weight": weight, "fact": fact, "chunk_ids": [chunks[path]]},
                    }
                    for source, kind, target, weight, fact, path in FACTS
                ]
            },
        )

    await (await kb.client.connect()).transaction(work)
