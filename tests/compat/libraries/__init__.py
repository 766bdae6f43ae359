"""Programs with libraries written for JAX: each prints numbers, under JAX and under `numhlo.compat.jax` the same.

``python -m tests.compat.libraries`` runs them all and writes the table of `docs/jax_libraries.md`; the libraries are
installed by ``python -m pip install -r tests/compat/libraries/requirements.txt``.
"""
