"""NumPy's discrete Fourier transforms."""
