"""One module a command; each is a plain function that the command line (device/cli.py) exposes."""
