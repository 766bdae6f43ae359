"""A hidden Markov model: the forward algorithm in logarithms, Viterbi's path, and the likelihood's slope."""

import jax
import jax.numpy as jnp
from jax import lax


def forward(log_moves, log_emits, seen):
    def step(alpha, symbol):
        alpha = jax.scipy.special.logsumexp(alpha[:, None] + log_moves, axis=0) + log_emits[:, symbol]
        return alpha, alpha

    last, _ = lax.scan(step, jnp.log(jnp.array([0.5, 0.5])), seen)
    return jax.nn.logsumexp(last)


def viterbi(log_moves, log_emits, seen):
    def step(score, symbol):
        options = score[:, None] + log_moves
        return options.max(axis=0) + log_emits[:, symbol], options.argmax(axis=0)

    last, back = lax.scan(step, jnp.log(jnp.array([0.5, 0.5])), seen)
    _, path = lax.scan(lambda state, arrows: (arrows[state], state), last.argmax(), back, reverse=True)
    return path


def main():
    moves, emits = jnp.log(jnp.array([[0.9, 0.1], [0.2, 0.8]])), jnp.log(jnp.array([[0.7, 0.3], [0.1, 0.9]]))
    seen = jnp.array([0, 1, 1, 0, 1, 1])
    return jax.value_and_grad(forward, argnums=(0, 1))(moves, emits, seen), viterbi(moves, emits, seen)
