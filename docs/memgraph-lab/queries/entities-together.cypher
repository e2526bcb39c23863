// Entities that are mentioned together
// Pairs of entities, by the number of passages that mention both.
WITH 'default' AS namespace
MATCH (a:Entity) WHERE a.namespace = namespace
MATCH (a)<-[:MENTIONS]-(c:DocumentChunk)-[:MENTIONS]->(b:Entity)
WHERE a.id < b.id
WITH a, b, count(c) AS passages
RETURN a.name AS one, b.name AS other, passages ORDER BY passages DESC, one, other LIMIT 100;
