"""SciPy's functions, laid out as SciPy is."""
