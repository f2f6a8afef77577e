"""C that calls the library, one module for each family of functions."""
