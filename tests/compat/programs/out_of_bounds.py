"""Reads out of bounds: filled, clipped and wrapped, and rows that are scattered and dropped."""

import jax.numpy as jnp


def main():
    table = jnp.arange(12.0).reshape(4, 3)
    rows = jnp.array([0, 3, 9])
    return (
        jnp.take(table, rows, axis=0),
        jnp.take(table, rows, axis=0, mode="clip"),
        jnp.take(table, rows, axis=0, mode="wrap"),
        jnp.take_along_axis(table, rows[:, None].clip(0, 3), axis=0, mode="fill"),
        table.at[jnp.array([1, 7])].add(1.0, mode="drop"),
        table.at[jnp.array([1, 7])].get(mode="fill", fill_value=-1.0),
        jnp.nonzero(table[:, 0] > 2, size=4, fill_value=-1),
    )
