// Links between documents
// Which documents refer to which, and to what outside.
WITH 'default' AS namespace
MATCH (d:Document) WHERE d.namespace = namespace
MATCH (d)-[r:REFERENCES]->(target)
RETURN d, r, target ORDER BY d.path LIMIT 200;
