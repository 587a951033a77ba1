"""irshape beside OpenVINO: `python -m benchmarks`."""
