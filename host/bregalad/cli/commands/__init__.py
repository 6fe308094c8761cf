"""The commands of the command line, a module each: its first line is the summary; ``add_arguments`` and ``run``."""
