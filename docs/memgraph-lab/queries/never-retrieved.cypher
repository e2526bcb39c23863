// Documents that no answer has used
// Documents of which no passage was ever retrieved: they may be hard to find, or not needed.
WITH 'default' AS namespace
MATCH (d:Document) WHERE d.namespace = namespace
OPTIONAL MATCH (d)<-[:CHUNK_OF]-(:DocumentChunk)<-[r:RETRIEVED]-(:Interaction)
WITH d, count(r) AS times WHERE times = 0
RETURN d.path AS path, d.title AS title, d.created_at AS created_at ORDER BY path LIMIT 200;
