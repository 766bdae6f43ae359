"""Linear algebra under the names of `jax.lax.linalg` and `scipy.linalg`; NumPy's names are in `namespace`."""
