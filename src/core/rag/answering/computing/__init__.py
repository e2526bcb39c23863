"""Answers to questions that count, add up or compare all records of a collection: "How many orders are from Ulm?"."""
