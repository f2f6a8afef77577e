"""A front end for networks in text files."""
