"""Measurements of quality and speed; ``python -m benchmarks --help``."""
