"""Smoothing and edges by convolutions of scipy.signal, and a slope through them."""

import jax
import jax.numpy as jnp
from jax.scipy import signal


def edges(image, kernel):
    smooth = signal.convolve(image, kernel, mode="same")
    across = signal.correlate2d(smooth, jnp.array([[-1.0, 0.0, 1.0]] * 3), mode="valid")
    return jnp.hypot(across, signal.convolve2d(smooth, jnp.array([[1.0], [0.0], [-1.0]]), mode="valid")[:, 1:-1])


def main():
    image = jnp.cos(jnp.arange(48.0)).reshape(6, 8)
    kernel = jnp.outer(jnp.array([1.0, 2.0, 1.0]), jnp.array([1.0, 2.0, 1.0])) / 16
    slope = jax.grad(lambda k: jnp.sum(edges(image, k)))(kernel)
    return edges(image, kernel), slope, signal.fftconvolve(image, kernel)
