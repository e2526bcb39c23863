// What people thought of answers
// Ratings of passages, latest first: 1 is good, -1 is bad.
WITH 'default' AS namespace
MATCH (u:User) WHERE u.namespace = namespace
MATCH (u)-[r:RATED]->(c:DocumentChunk)
RETURN u.external_id AS user, r.value AS value, r.query AS query, c.path AS path, c.content AS passage,
       r.rated_at AS rated_at
ORDER BY rated_at DESC, path LIMIT 200;
