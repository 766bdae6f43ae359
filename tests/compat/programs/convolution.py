"""An edge filter and a layer of channels by lax's general convolution."""

import jax
import jax.numpy as jnp
from jax import lax


def main():
    image = jnp.arange(25.0).reshape(1, 5, 5, 1) ** 1.5
    sobel = jnp.array([[1.0, 0, -1], [2, 0, -2], [1, 0, -1]]).reshape(3, 3, 1, 1)
    spec = ("NHWC", "HWIO", "NHWC")
    edges = lax.conv_general_dilated(image, sobel, (1, 1), "SAME", dimension_numbers=spec)
    kernel = jnp.cos(jnp.arange(18.0)).reshape(3, 3, 1, 2)
    strided = lambda k: lax.conv_general_dilated(image, k, (2, 2), "VALID", dimension_numbers=spec)
    pooled = lax.reduce_window(edges, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return edges, strided(kernel), pooled, jax.grad(lambda k: jnp.sum(strided(k) ** 2))(kernel)
