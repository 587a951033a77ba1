"""Questions about an inference: explanations, differences, descriptions, targets and valid sizes."""
