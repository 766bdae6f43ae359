"""What products and factorizations of matrices share: calls of BLAS and LAPACK, operands, small matrices in line."""
