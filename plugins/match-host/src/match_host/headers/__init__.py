"""Headers with floating-point arithmetic that programs ship: float16, narrower floats, functions of float32."""
