// Chunks without a vector
// Searches by meaning cannot find them; `mgrag doctor --repair` embeds them.
WITH 'default' AS namespace
MATCH (s:VectorStore) WHERE s.namespace = namespace AND s.status = 'active'
WITH namespace, s.id AS store
MATCH (c:DocumentChunk) WHERE c.namespace = namespace
OPTIONAL MATCH (c)<-[:EMBEDDING_OF]-(v:Vector) WHERE v.vector_store_id = store
WITH c, count(v) AS vectors WHERE vectors = 0
RETURN c.path AS path, c.chunk_index AS chunk, c.id AS id ORDER BY path, chunk LIMIT 200;
