// Vector stores that searches do not use
// Stores left over from a change of embedding model (`mgrag reembed`), with their number of vectors.
WITH 'default' AS namespace
MATCH (s:VectorStore) WHERE s.namespace = namespace AND s.status <> 'active'
OPTIONAL MATCH (s)<-[r:STORED_IN]-(:Vector)
WITH s, count(r) AS vectors
RETURN s.model AS model, s.dimension AS dimension, s.status AS status, vectors, s.created_at AS created_at
ORDER BY created_at;
