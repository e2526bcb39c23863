"""What a question asks: the names in it, what kind of answer, which times, and whether it asks anything at all."""
