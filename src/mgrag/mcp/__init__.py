"""A server of the Model Context Protocol: a knowledge base as tools for agents. ``pip install 'memgraph-rag[mcp]'``."""
