// Documents with the same text
// Copies under several paths. They share their vectors, but each of them takes up places among the hits.
WITH 'default' AS namespace
MATCH (d:Document) WHERE d.namespace = namespace AND d.content_hash IS NOT NULL
WITH d.content_hash AS hash, count(d) AS copies, collect(d.path) AS paths WHERE copies > 1
RETURN copies, paths ORDER BY copies DESC LIMIT 100;
