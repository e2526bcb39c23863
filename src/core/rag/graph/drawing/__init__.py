"""Draws a part of the graph: as a self-contained HTML page, as Mermaid, or as GraphML."""
