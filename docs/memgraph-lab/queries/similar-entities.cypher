// Entities that may be the same
// Equal names of another type, or of another spelling that was folded away.
WITH 'default' AS namespace
MATCH (e:Entity) WHERE e.namespace = namespace
WITH e.normalized_name AS name, count(e) AS entities, collect(e.type) AS types WHERE entities > 1
RETURN name, entities, types ORDER BY entities DESC, name LIMIT 100;
