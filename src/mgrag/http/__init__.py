"""The HTTP API: a knowledge base for other services. Requires ``pip install 'memgraph-rag[http]'``."""
