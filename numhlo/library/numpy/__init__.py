"""NumPy's names over `bind`: what each NumPy function means in StableHLO ops.

Begin with `core`, what every function needs, and `elementwise`; `families` lists the modules with names, and folders
hold those of one subject. JAX's own names are in `lax`.
"""
