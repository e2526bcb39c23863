// Concepts and topics
// What documents are about and explain, and how concepts are related.
WITH 'default' AS namespace
MATCH (n) WHERE (n:Concept OR n:Topic) AND n.namespace = namespace
OPTIONAL MATCH (n)-[r:RELATED_TO]->(other:Concept)
OPTIONAL MATCH (n)<-[a:ABOUT|EXPLAINS]-(d:Document)
RETURN n, r, other, a, d LIMIT 200;
