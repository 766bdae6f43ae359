"""Lanes with control flow of their own: in blocks, so that they are SIMD code."""
