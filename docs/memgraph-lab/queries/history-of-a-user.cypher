// What a user has seen
// The documents a user viewed and the conversations they started, as a graph.
WITH 'default' AS namespace, 'ann' AS user
MATCH (u:User) WHERE u.namespace = namespace AND u.external_id = user
MATCH (u)-[r:VIEWED|STARTED]->(n)
RETURN u, r, n LIMIT 200;
