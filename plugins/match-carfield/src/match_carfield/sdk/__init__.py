"""Build files and applications for Carfield's SDKs, written next to each concurrent program."""
