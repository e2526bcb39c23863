"""Documents and chunks: written, read, linked, replaced and removed."""
