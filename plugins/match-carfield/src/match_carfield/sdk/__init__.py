"""Build files and applications for Carfield's SDKs, written beside each program with units side by side."""
