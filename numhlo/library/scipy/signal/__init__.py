"""Filters, convolutions and spectra of signals under SciPy's names."""
