"""NumPy's indexing, read and written, with known and traced indices, masks and bounds."""
