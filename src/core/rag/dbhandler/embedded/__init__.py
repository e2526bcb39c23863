"""The embedded engine, Grafeo: the store, and the guards that make it safe for somebody's only copy."""
