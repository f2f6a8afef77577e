"""Advice about a model on a target, without writing a program."""
