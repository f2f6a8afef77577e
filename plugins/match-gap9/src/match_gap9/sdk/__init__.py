"""Build files and an application for GAP9's SDKs, written next to each program."""
