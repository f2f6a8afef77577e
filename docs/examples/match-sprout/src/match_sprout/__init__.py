"""Target sprout for match."""
