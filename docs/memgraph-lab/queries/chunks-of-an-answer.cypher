// Chunks that an answer used
// The passages retrieved for each answer of a conversation, best first.
WITH 'default' AS namespace, 'talk' AS conversation
MATCH (a:Interaction {session_id: conversation}) WHERE a.namespace = namespace
MATCH (a)-[r:RETRIEVED]->(c:DocumentChunk)-[:CHUNK_OF]->(d:Document)
RETURN a.sequence AS turn, a.content AS answer, r.rank AS rank, r.score AS score, d.path AS path,
       c.heading AS heading, c.content AS passage
ORDER BY turn, rank LIMIT 200;
