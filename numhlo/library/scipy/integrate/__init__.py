"""Integrals of samples, and solutions of differential equations."""
