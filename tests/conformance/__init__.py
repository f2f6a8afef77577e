"""The conformance suite of the ONNX project (``onnx.backend.test``), run through the compiler to C."""
