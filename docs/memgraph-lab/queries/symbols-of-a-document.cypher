// What a source file defines
// The functions and classes of a file, and which of them call each other.
WITH 'default' AS namespace, 'src/mill.py' AS path
MATCH (d:Document {path: path}) WHERE d.namespace = namespace
MATCH (d)<-[i:DEFINED_IN]-(s:Symbol)
OPTIONAL MATCH (s)-[c:CALLS]->(called:Symbol)
RETURN d, i, s, c, called ORDER BY s.line LIMIT 200;
