"""Export and import of a namespace."""
