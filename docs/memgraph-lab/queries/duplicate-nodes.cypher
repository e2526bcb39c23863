// Nodes that are there twice
// Ids shared by several nodes of one kind. There should be none: constraints forbid it.
WITH 'default' AS namespace
MATCH (n) WHERE n.namespace = namespace
UNWIND labels(n) AS label
WITH label, n.id AS id, count(*) AS times WHERE times > 1
RETURN label, id, times ORDER BY label, id LIMIT 100;
