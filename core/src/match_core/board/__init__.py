"""Board files: one Soc composed of units of several packages (docs/boards.md)."""
