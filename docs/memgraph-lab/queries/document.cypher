// A document with its chunks
// Its chunks in order, the entities they mention, and their vectors.
WITH 'default' AS namespace, 'notes/mill.md' AS path
MATCH (d:Document {path: path}) WHERE d.namespace = namespace
MATCH (d)<-[p:CHUNK_OF]-(c:DocumentChunk)
OPTIONAL MATCH (c)-[m:MENTIONS]->(e:Entity)
OPTIONAL MATCH (c)<-[o:EMBEDDING_OF]-(v:Vector)
RETURN d, p, c, m, e, o, v ORDER BY c.chunk_index LIMIT 200;
