"""Search: by vector, by words, by name and by graph; fusion, filters, feedback and conversations."""
