"""Linear equations solved by products with the matrix alone."""
