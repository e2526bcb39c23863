"""Looking after a graph: what is in it, whether it is sound, copies of it, and other embedding models."""
