"""Random numbers from keys, under JAX's names and with JAX's bits: keys, continuous and discrete distributions."""

import numhlo.library.numpy.array_methods  # noqa: F401 - traced arrays get their methods
