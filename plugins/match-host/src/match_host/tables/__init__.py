"""The host's operators by family; each module exports one tuple."""
