"""Answers questions with citations: the Knowledge RAG flow, BasicRAG, and DRIFT RAG (``drift``).

``types`` holds what the stages hand on; ``flow`` the stages in order; ``events`` what is streamed.
"""
