"""Polynomials as vectors of coefficients, their fits and roots."""
