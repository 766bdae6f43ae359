import chex
import jax
import jax.numpy as jnp


@chex.dataclass
class State:
    x: chex.Array
    n: int


@jax.jit
@chex.assert_max_traces(2)
def step(state):
    chex.assert_rank(state.x, 1)
    chex.assert_tree_all_finite({"n": 1.0})
    return state.replace(x=jnp.sin(state.x), n=state.n + 1)


state = State(x=jnp.arange(3.0, dtype=jnp.float32), n=0)
for _ in range(3):
    state = step(state)
chex.assert_shape(state.x, (3,))
chex.assert_trees_all_close(state.x, state.x * (1 + 1e-9))
print(*map(float, state.x), int(state.n))
try:
    chex.assert_equal_shape([jnp.ones(2), jnp.ones(3)])
except AssertionError:
    print(1.0)
