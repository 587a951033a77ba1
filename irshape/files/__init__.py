"""Reading and writing of files: the only places of irshape that open a file that somebody names."""
