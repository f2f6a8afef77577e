"""Bodies of operators for which the ONNX standard defines none: other domains, and forms without a kernel."""
