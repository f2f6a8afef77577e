"""Plans of programs whose units run side by side: docs/planning.md."""
