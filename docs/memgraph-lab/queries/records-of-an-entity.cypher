// Records that have an entity
// The rows of tables and JSON files that contain it, and in which field.
WITH 'default' AS namespace, 'margaret harrow' AS name
MATCH (e:Entity {normalized_name: name}) WHERE e.namespace = namespace
MATCH (e)<-[h:HAS_ENTITY]-(r:Record)
RETURN e, h, r LIMIT 200;
