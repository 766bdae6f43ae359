"""Branches, loops and scans of traced values."""
