"""Pytrees: nested containers of arrays, taken apart, mapped over, and put together again."""

from numhlo.library.citations import cite as _cite
from numhlo.tracer.trees.pytree_keys import DictKey, FlattenedIndexKey, GetAttrKey, SequenceKey, keystr
from numhlo.tracer.trees.pytree_paths import tree_flatten_with_path, tree_leaves_with_path, tree_map_with_path
from numhlo.tracer.trees.pytree_registration import (
    Partial,
    register_dataclass,
    register_pytree_node,
    register_pytree_node_class,
    register_pytree_with_keys,
    register_pytree_with_keys_class,
    register_static,
)
from numhlo.tracer.trees.pytrees import (
    PyTreeDef,
    tree_all,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_reduce,
    tree_structure,
    tree_transpose,
    tree_unflatten,
)
from numhlo.tree_structures import (
    all_leaves,
    flatten_one_level,
    flatten_one_level_with_keys,
    is_tree_node,
    tree_broadcast,
    tree_reduce_associative,
    treedef_children,
    treedef_is_leaf,
    treedef_tuple,
)

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "Partial",
    "PyTreeDef",
    "SequenceKey",
    "all_leaves",
    "flatten_one_level",
    "flatten_one_level_with_keys",
    "is_tree_node",
    "keystr",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "tree_all",
    "tree_broadcast",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_with_path",
    "tree_reduce",
    "tree_reduce_associative",
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
]
_cite(globals(), "jax.tree_util.{}", __all__)
