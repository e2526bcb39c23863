// Documents of a source
// The documents of a folder, site or list, given its name or address, as a graph.
WITH 'default' AS namespace, 'documents' AS source
MATCH (s:Source) WHERE s.namespace = namespace AND (s.name = source OR s.uri = source)
MATCH (s)<-[r:SOURCED_FROM]-(d:Document)
RETURN s, r, d ORDER BY d.path LIMIT 200;
