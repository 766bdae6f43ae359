"""Quantiles, histograms, covariances, and reductions that leave NaN out."""
