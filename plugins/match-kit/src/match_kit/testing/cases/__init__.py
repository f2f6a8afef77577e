"""The cases, one module for each level."""
