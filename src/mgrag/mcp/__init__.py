"""The MCP server: a knowledge base as tools for agents. Requires ``pip install 'memgraph-rag[mcp]'``."""
