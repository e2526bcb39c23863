"""Puts passages that were found in order: fuses rankings, and raises and lowers what is in them."""
