"""Bodies for operators that the ONNX standard gives none: those of other domains, and forms without a kernel."""
