"""What is said of a file and how it is shown."""
