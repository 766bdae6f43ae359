import jax
import jax.numpy as jnp
import jraph
import numpy as np

graph = jraph.GraphsTuple(
    nodes=jnp.arange(8, dtype=jnp.float32).reshape(4, 2),
    edges=jnp.ones((5, 1), jnp.float32),
    senders=jnp.array([0, 1, 2, 3, 0]),
    receivers=jnp.array([1, 2, 3, 0, 2]),
    n_node=jnp.array([4]),
    n_edge=jnp.array([5]),
    globals=jnp.zeros((1, 1), jnp.float32),
)
batch = jraph.batch([graph, graph])
network = jraph.GraphNetwork(
    update_edge_fn=lambda e, s, r, g: jnp.tanh(e + s.sum(-1, keepdims=True) - r.sum(-1, keepdims=True)),
    update_node_fn=lambda n, s, r, g: n + s - r,
    update_global_fn=lambda n, e, g: g + n.sum(-1, keepdims=True) + e,
)
out = jax.jit(network)(batch)
print(*[float(jnp.sum(v)) for v in jax.tree_util.tree_leaves(out)])
padded = jraph.pad_with_graphs(graph, 8, 12)
print(*map(int, padded.n_node), *map(bool, np.asarray(jraph.get_graph_padding_mask(padded))))
print(float(jraph.segment_softmax(jnp.arange(4.0, dtype=jnp.float32), jnp.array([0, 0, 1, 1]), 2).max()))
