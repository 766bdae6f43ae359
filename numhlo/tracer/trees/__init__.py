"""Pytrees: nested containers of leaves, how they are taken apart, named, registered and written to files."""
