"""Files for building programs for a chip."""
