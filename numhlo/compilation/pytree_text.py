"""Structures of pytrees as JSON, for files: classes by name, metadata where it is plain data.

Reading imports nothing: a class is found only if its module has been imported, and only if it is a container. So a file
can't make its reader run code.
"""

from __future__ import annotations

import sys
from typing import Any

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.trees.pytrees import LEAF, NONE, PyTreeDef, find_container
from numhlo.tracer.trees.written_order import WrittenKeys

PLAIN = (bool, int, float, str, type(None))
"""Classes of metadata that JSON keeps as they are."""


def to_json(treedef: PyTreeDef) -> Any:
    """Return a structure as JSON has it: ``"*"`` for a leaf, null for None, else class, metadata and children.

    Raises
    ------
    ArgumentError
        If a class can't be found by its name, or its metadata is no plain data.

    Examples
    --------
    >>> from numhlo.tree_util import tree_structure
    >>> to_json(tree_structure({"w": 1, "b": None}))
    ['builtins:dict', ['b', 'w'], [None, '*']]
    """
    if treedef.node_type is None:
        return "*"
    if treedef.node_type is type(None):
        return None
    children = [to_json(child) for child in treedef.children]
    return [_class_name(treedef.node_type), _plain(treedef.metadata, treedef.node_type), children]


def from_json(found: Any) -> PyTreeDef:
    """Return the structure that `to_json` wrote.

    Raises
    ------
    ArgumentError
        If it is not of that form, or names a class that is not there, or is no container.

    Examples
    --------
    >>> from_json(["builtins:tuple", None, ["*", None]])
    PyTreeDef((*, None))
    """
    if found == "*":
        return LEAF
    if found is None:
        return NONE
    if not (isinstance(found, list) and len(found) == 3 and isinstance(found[0], str) and isinstance(found[2], list)):
        raise ArgumentError(
            f"{repr(found)[:80]} is no structure",
            where=capture_location(),
            why='it is "*", null, or a class, metadata and children',
        )
    node_type, metadata = _find_class(found[0]), _tuples(found[1])
    children = tuple([from_json(child) for child in found[2]])
    if issubclass(node_type, dict) and (not isinstance(metadata, tuple) or len(metadata) != len(children)):
        raise ArgumentError(f"a dict of {len(children)} items has the keys {metadata!r}", where=capture_location())
    return PyTreeDef(node_type, metadata, children)


def _class_name(node_type: type) -> str:
    name = f"{node_type.__module__}:{node_type.__qualname__}"
    if _look_up(name) is not node_type:
        raise ArgumentError(
            f"class {node_type.__qualname__} can't be written into a file",
            where=capture_location(),
            why=f"{name} is where it would be looked for, and is not it",
            fix="define it at the top level of a module",
        )
    return name


def _look_up(name: str) -> Any:
    module, _, path = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def _find_class(name: str) -> type:
    found = _look_up(name)
    if not isinstance(found, type):
        module = name.partition(":")[0]
        raise ArgumentError(
            f"the file has a {name}, which is not there",
            where=capture_location(),
            why="reading a file imports nothing",
            fix=f"import {module} before, where the class is defined and registered",
        )
    if find_container(found) is None:
        raise ArgumentError(
            f"the file has a {name} with children, but that class is no container here", where=capture_location()
        )
    return found


def _plain(metadata: Any, node_type: type) -> Any:
    if type(metadata) in (tuple, WrittenKeys):
        return [_plain(item, node_type) for item in metadata]
    if type(metadata) not in PLAIN:
        raise ArgumentError(
            f"metadata {metadata!r} of {node_type.__qualname__} can't be written into a file",
            where=capture_location(),
            why="strings, numbers, truth values, None and tuples of them can",
        )
    return metadata


def _tuples(metadata: Any) -> Any:
    return tuple([_tuples(item) for item in metadata]) if isinstance(metadata, list) else metadata
