"""Which words a question is searched for by: typing errors and compounds, the words of a message, their weights."""
