"""Conversations and memories: messages, what they refer to, and the users who wrote them."""
