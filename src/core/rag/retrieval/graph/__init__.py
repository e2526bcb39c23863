"""Graph retrieval without a model: the neighbourhood of what was found, a random walk on it, and bridging."""
