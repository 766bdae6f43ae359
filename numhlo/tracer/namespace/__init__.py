"""NumPy's names over `bind`: what each NumPy function means in StableHLO ops."""
