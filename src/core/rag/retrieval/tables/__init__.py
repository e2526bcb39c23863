"""Questions about records as a table: which there are, how many, and what their numbers come to."""
