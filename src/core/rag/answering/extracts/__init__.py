"""Answers without a language model: which sentences of the passages are shown, and how."""
