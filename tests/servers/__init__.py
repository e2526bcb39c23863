"""Real servers for the tests: a Neo4j of our own, and a TCP proxy that breaks the line to it on demand."""
