"""Transformations: kernel IR to kernel IR, with the same results to the bit.

Each has a file, named as compilers name it; `pipeline` says which run, in which order. They change a module in place,
and know neither text nor Numba.
"""
