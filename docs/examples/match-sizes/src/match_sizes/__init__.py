"""The verb match sizes."""
