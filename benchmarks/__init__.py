"""numhlo side by side with NumPy, JAX on the CPU and hand-written Numba; `python -m benchmarks` runs all of it."""
