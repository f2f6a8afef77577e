"""Ports: what programs need on platforms that are no target's own."""
