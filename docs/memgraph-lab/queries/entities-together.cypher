// Entities that are mentioned together
// Pairs of entities that are mentioned more than once, by the number of passages that mention both.
WITH 'default' AS namespace
MATCH (a:Entity) WHERE a.namespace = namespace AND a.mention_count > 1
MATCH (a)<-[:MENTIONS]-(c:DocumentChunk)-[:MENTIONS]->(b:Entity)
WHERE a.id < b.id AND b.mention_count > 1
WITH a, b, count(c) AS passages
RETURN a.name AS one, b.name AS other, passages ORDER BY passages DESC, one, other LIMIT 100;
