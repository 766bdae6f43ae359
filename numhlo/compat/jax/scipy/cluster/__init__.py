"""`jax.scipy.cluster`: assignment of observations to centroids."""

from numhlo.compat.jax.scipy.cluster import vq as vq

__all__ = ["vq"]
