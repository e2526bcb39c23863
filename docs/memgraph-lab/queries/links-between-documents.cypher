// Links between documents
// Which documents link to each other, and to what outside the graph.
WITH 'default' AS namespace
MATCH (d:Document) WHERE d.namespace = namespace
MATCH (d)-[r:REFERENCES]->(target)
RETURN d, r, target ORDER BY d.path LIMIT 200;
