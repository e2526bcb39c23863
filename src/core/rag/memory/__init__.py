"""Conversations as memory: remember, recall, and forget on request."""
