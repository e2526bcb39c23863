// What changed last
// The most recently written documents, with their number of chunks.
WITH 'default' AS namespace
MATCH (d:Document) WHERE d.namespace = namespace
OPTIONAL MATCH (d)<-[:CHUNK_OF]-(c:DocumentChunk)
WITH d, count(c) AS chunks
RETURN d.path AS path, d.title AS title, chunks, d.updated_at AS updated_at
ORDER BY updated_at DESC, path LIMIT 50;
