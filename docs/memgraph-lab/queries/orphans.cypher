// Orphans
// Nodes that have lost what they belong to. There should be none; `mgrag doctor --repair` removes them.
WITH 'default' AS namespace
MATCH (c:DocumentChunk) WHERE c.namespace = namespace
OPTIONAL MATCH (c)-[r:CHUNK_OF]->(:Document)
WITH c, count(r) AS edges WHERE edges = 0
RETURN 'chunk without a document' AS problem, c.id AS id
UNION ALL
WITH 'default' AS namespace
MATCH (v:Vector) WHERE v.namespace = namespace
OPTIONAL MATCH (v)-[r:EMBEDDING_OF]->()
WITH v, count(r) AS edges WHERE edges = 0
RETURN 'vector of nothing' AS problem, v.id AS id
UNION ALL
WITH 'default' AS namespace
MATCH (v:Vector) WHERE v.namespace = namespace
OPTIONAL MATCH (v)-[r:STORED_IN]->(:VectorStore)
WITH v, count(r) AS edges WHERE edges = 0
RETURN 'vector in no store' AS problem, v.id AS id
UNION ALL
WITH 'default' AS namespace
MATCH (d:Document) WHERE d.namespace = namespace
OPTIONAL MATCH (d)<-[r:CHUNK_OF]-(:DocumentChunk)
WITH d, count(r) AS edges WHERE edges = 0
RETURN 'document without chunks' AS problem, d.id AS id
UNION ALL
WITH 'default' AS namespace
MATCH (i:Interaction) WHERE i.namespace = namespace
OPTIONAL MATCH (i)-[r:PART_OF]->(:Conversation)
WITH i, count(r) AS edges WHERE edges = 0
RETURN 'message of no conversation' AS problem, i.id AS id;
