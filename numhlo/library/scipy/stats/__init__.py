"""Probability distributions, as SciPy's `scipy.stats` has them: densities and distribution functions, not samples.

Knows formulas of `numhlo.library.numpy` only; samples are drawn by `numhlo.library.random`.
"""
