"""Entities and relations of a namespace in memory, for searches that no graph engine has an index for."""
