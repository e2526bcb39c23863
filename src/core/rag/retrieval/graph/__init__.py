"""Graph retrieval without a model: a small neighbourhood of what was found, a walk through it, and bridges."""
