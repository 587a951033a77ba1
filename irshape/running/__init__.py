"""Two models side by side: OpenVINO runs both on equal inputs in a process of its own, and their outputs are compared."""
