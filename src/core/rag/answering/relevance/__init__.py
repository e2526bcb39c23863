"""Whether what was found has to do with the question, and how much."""
