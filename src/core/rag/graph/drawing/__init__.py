"""Pictures of a piece of the graph: an HTML page that needs nothing else, Mermaid, GraphML."""
