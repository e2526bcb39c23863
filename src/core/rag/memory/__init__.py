"""Conversations as memory: remember, recall, forget; what people said, kept for them and removed when they say so."""
