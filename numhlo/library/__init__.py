"""NumPy's, SciPy's, lax's, random's and nn's functions: names, signatures, documentation, written over traced ops.

Each folder is laid out as what it mirrors. Of the tracer they use what `numhlo.tracer.building` offers, and nothing
else; `registration` gives traced arrays their methods, and NumPy's own functions their meaning of traced arrays. What
users import, `numhlo.numpy` and its kin, gathers the names.
"""
