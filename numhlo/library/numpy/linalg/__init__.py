"""Products, factorizations, solutions and norms of (stacks of) matrices."""
