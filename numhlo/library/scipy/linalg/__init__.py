"""Factorizations, matrix functions, solutions and special matrices under SciPy's names."""
