// Passages that answers use most
// How often each passage was retrieved, and at which rank.
WITH 'default' AS namespace
MATCH (c:DocumentChunk) WHERE c.namespace = namespace
MATCH (c)<-[r:RETRIEVED]-(:Interaction)
WITH c, count(r) AS times, min(r.rank) AS best_rank
RETURN c.path AS path, c.chunk_index AS chunk, times, best_rank, c.content AS passage
ORDER BY times DESC, best_rank, path, chunk LIMIT 50;
