"""The example target."""
