"""Traces, traced arrays, cells and views, binding of ops, and the small operations that rules are written in."""
