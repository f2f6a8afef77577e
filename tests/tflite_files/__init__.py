"""TFLite files that tests make, and what operators of TFLite compute."""
