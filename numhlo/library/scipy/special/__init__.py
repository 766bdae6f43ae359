"""SciPy's special functions, by kin."""
