"""SciPy's functions of signals, images, grids and integrals, traced; matrices and distributions have their own folders.

They are written as NumPy programs over traced arrays, with SciPy's names, signatures, dtypes and values.
"""
