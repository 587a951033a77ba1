"""Read, check, infer and write OpenVINO IRs."""
