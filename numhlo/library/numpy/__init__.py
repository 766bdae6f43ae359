"""NumPy's functions: what each means in StableHLO ops. Files have the names of what one looks for.

Begin with `elementwise` and `ufunc_calls` (what a ufunc does when it is called) and `indexing`; `families` lists all
modules that register functions.
"""
