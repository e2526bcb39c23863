// What a user has seen
// Documents that were viewed and conversations that were begun, as a graph.
WITH 'default' AS namespace, 'ann' AS user
MATCH (u:User) WHERE u.namespace = namespace AND u.external_id = user
MATCH (u)-[r:VIEWED|STARTED]->(n)
RETURN u, r, n LIMIT 200;
