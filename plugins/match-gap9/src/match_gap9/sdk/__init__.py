"""Build files and an application for GAP9's SDKs, written beside each program."""
