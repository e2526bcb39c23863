// What is in a namespace
// The number of nodes of each kind, without the additional labels that keep the indexes of namespaces apart.
WITH 'default' AS namespace
MATCH (n) WHERE n.namespace = namespace
UNWIND labels(n) AS label
WITH label, count(*) AS nodes WHERE NOT label CONTAINS '_'
RETURN label, nodes ORDER BY nodes DESC, label;
