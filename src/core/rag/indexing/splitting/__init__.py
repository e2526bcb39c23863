"""The splitter: texts, Markdown and source code to chunks."""
