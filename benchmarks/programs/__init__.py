"""The programs that are compared, one idea a file; the registry lists them."""
