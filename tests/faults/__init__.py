"""What can go wrong between a client and a server, provoked on purpose, and what has to hold afterwards."""
