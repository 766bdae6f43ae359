"""Meshes of devices, how arrays are cut over them, and functions of one device's parts, under JAX's names."""

import numhlo.library.numpy.array_methods  # noqa: F401 - traced arrays get their methods
