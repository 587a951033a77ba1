"""The settings of a file: from the configuration of its repository, and from the command line."""
