"""Loops answered in Python, fast enough to bridge the time until their machine code is there."""
