"""Plans of concurrent programs: docs/planning.md."""
