"""Target ${name} for match."""
