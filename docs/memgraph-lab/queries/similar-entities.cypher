// Entities that may be the same
// Entities whose names are equal apart from type or spelling.
WITH 'default' AS namespace
MATCH (e:Entity) WHERE e.namespace = namespace
WITH e.normalized_name AS name, count(e) AS entities, collect(e.type) AS types WHERE entities > 1
RETURN name, entities, types ORDER BY entities DESC, name LIMIT 100;
