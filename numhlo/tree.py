"""`numhlo.tree`: the functions of `numhlo.tree_util` under shorter names, as in `jax.tree`."""

from numhlo.library.citations import cite as _cite
from numhlo.tracer.trees.pytree_paths import tree_flatten_with_path as flatten_with_path
from numhlo.tracer.trees.pytree_paths import tree_leaves_with_path as leaves_with_path
from numhlo.tracer.trees.pytree_paths import tree_map_with_path as map_with_path
from numhlo.tracer.trees.pytree_registration import static
from numhlo.tracer.trees.pytrees import tree_all as all
from numhlo.tracer.trees.pytrees import tree_flatten as flatten
from numhlo.tracer.trees.pytrees import tree_leaves as leaves
from numhlo.tracer.trees.pytrees import tree_map as map
from numhlo.tracer.trees.pytrees import tree_reduce as reduce
from numhlo.tracer.trees.pytrees import tree_structure as structure
from numhlo.tracer.trees.pytrees import tree_transpose as transpose
from numhlo.tracer.trees.pytrees import tree_unflatten as unflatten
from numhlo.tree_structures import tree_broadcast as broadcast
from numhlo.tree_structures import tree_reduce_associative as reduce_associative

__all__ = [
    "all",
    "broadcast",
    "flatten",
    "flatten_with_path",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "reduce",
    "reduce_associative",
    "static",
    "structure",
    "transpose",
    "unflatten",
]
_cite(globals(), "jax.tree.{}", __all__)
