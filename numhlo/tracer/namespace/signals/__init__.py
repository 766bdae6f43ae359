"""Fourier transforms, convolutions and windows of signals."""
