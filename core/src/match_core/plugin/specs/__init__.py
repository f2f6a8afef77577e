"""The hook specifications, one module per family. Signatures and prose only: importing them costs nothing."""
