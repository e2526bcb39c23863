// What is in a namespace
// How many nodes of each kind. Second labels, by which the indexes tell namespaces apart, are left out.
WITH 'default' AS namespace
MATCH (n) WHERE n.namespace = namespace
UNWIND labels(n) AS label
WITH label, count(*) AS nodes WHERE NOT label CONTAINS '_'
RETURN label, nodes ORDER BY nodes DESC, label;
