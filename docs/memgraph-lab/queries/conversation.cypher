// A conversation with what it retrieved
// The messages in order, and the passages behind each answer, as a graph.
WITH 'default' AS namespace, 'talk' AS conversation
MATCH (t:Conversation) WHERE t.namespace = namespace AND (t.id = conversation OR t.session_id = conversation)
MATCH (t)<-[p:PART_OF]-(i:Interaction)
OPTIONAL MATCH (i)-[f:FOLLOWS]->(before:Interaction)
OPTIONAL MATCH (i)-[r:RETRIEVED]->(c:DocumentChunk)
RETURN t, p, i, f, before, r, c ORDER BY i.sequence LIMIT 200;
