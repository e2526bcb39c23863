"""Answers to questions about all documents together: "What is this about?", "Summarize everything"."""
