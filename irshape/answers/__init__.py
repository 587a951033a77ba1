"""What is asked of an inference."""
