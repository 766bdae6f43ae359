"""Random numbers from keys, under JAX's names and with JAX's bits: keys, continuous and discrete distributions."""

from numhlo.library.numpy import array_methods as array_methods
