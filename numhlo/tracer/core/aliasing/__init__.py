"""Views, and bases that are written through them, over a graph in which nothing is ever written.

The reasons are in docs/decisions/mutability.md.
"""
