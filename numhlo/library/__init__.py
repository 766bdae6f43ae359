"""NumPy's, SciPy's, lax's, random's and nn's functions: names, signatures, documentation, written over traced ops."""
