// The neighbourhood of an entity
// Where it is mentioned, what it is related to, and what that is related to. Write its name in lower case.
WITH 'default' AS namespace, 'margaret harrow' AS name
MATCH (e:Entity {normalized_name: name}) WHERE e.namespace = namespace
MATCH (e)-[r]-(near)
OPTIONAL MATCH (near)-[further:RELATED|CHUNK_OF]-(far)
RETURN e, r, near, further, far LIMIT 200;
