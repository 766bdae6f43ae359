"""`jax.scipy.spatial`: rotations in space."""

from numhlo.compat.jax.scipy.spatial import transform as transform

__all__ = ["transform"]
