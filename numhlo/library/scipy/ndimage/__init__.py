"""Filters and morphology of images of any rank under SciPy's names."""
