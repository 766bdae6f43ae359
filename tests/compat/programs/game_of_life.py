"""Immutable arrays: neighbours by roll, cells set by .at."""

import jax
import jax.numpy as jnp


@jax.jit
def generation(board, _=None):
    turns = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
    neighbours = sum(jnp.roll(board, turn, (0, 1)) for turn in turns)
    return ((neighbours == 3) | ((board == 1) & (neighbours == 2))).astype(board.dtype), board.sum()


def main():
    glider = jnp.array([[0, 1], [1, 2], [2, 0], [2, 1], [2, 2]])
    empty = jnp.zeros((6, 6), dtype=jnp.int32)
    board = empty.at[glider[:, 0], glider[:, 1]].set(1)
    last, alive = jax.lax.scan(generation, board, None, length=8)
    return board, last, alive, empty.at[10, 0].set(5), board.at[2].add(3).at[:, 0].mul(-1), empty.sum()
