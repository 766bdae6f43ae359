"""Cache keys: what of a call's arguments decides what is traced, and how two keys differ, in a word and a sentence."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from numhlo.tracer.core.arguments import WEAK, leaf_type
from numhlo.tracer.core.array import Array
from numhlo.tracer.core.trace import Tracer
from numhlo.tracer.core.type_rules import NUMPY, type_rules
from numhlo.tracer.trees.pytrees import PyTreeDef


class CallKey(NamedTuple):
    """All of a call that decides what is traced.

    Attributes
    ----------
    tree : PyTreeDef
        Structure of ``(args, kwargs)`` without static arguments.
    leaves : tuple
        For each leaf its dtype and shape, or the class of a Python scalar.
    statics : tuple
        Pairs of argument number or name and `static_key`.
    orders : tuple
        The order of the keys of each dict.
    engine : str or None
        What a block chose to run the call.
    rules : str or None
        The rules for types that hold, unless they are NumPy's.
    """

    tree: PyTreeDef
    leaves: tuple[Any, ...]
    statics: tuple[Any, ...]
    orders: tuple[tuple[int, ...], ...] = ()
    engine: str | None = None
    rules: str | None = None


class InstanceKey:
    """Stands for an object in a key by identity, without keeping it alive."""

    __slots__ = ("_hash", "_reference")

    def __init__(self, instance: Any) -> None:
        self._hash = id(instance)
        self._reference = weakref.ref(instance)

    @property
    def is_alive(self) -> bool:
        """Return whether the object still exists."""
        return self._reference() is not None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, InstanceKey):
            return NotImplemented
        return self._reference() is other._reference() and self.is_alive

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"<{type(self._reference()).__qualname__} object>"


def leaf_keys(leaves: Sequence[Any]) -> tuple[Any, ...]:
    """Return each leaf's part of a key: a dtype and a shape, and a third item where it is a weak array.

    Raises
    ------
    DTypeError
        If a leaf can't be traced; without its path, which only the caller knows.
    """
    keys: list[Any] = []
    rules = type_rules()
    for leaf in leaves:
        kind = type(leaf)
        if kind is Array or kind is np.ndarray:
            dtype = leaf.dtype if leaf.dtype.isnative else leaf.dtype.newbyteorder("=")
            keys.append((dtype if rules is NUMPY else rules.canonical(dtype), leaf.shape))
        elif kind in WEAK:
            keys.append(kind)
        else:
            found = leaf_type(leaf)
            tensor = found.tensor
            if found.weak and isinstance(leaf, Tracer) and not tensor.shape:
                keys.append(weak_class(tensor.dtype))
            else:
                keys.append((tensor.dtype, tensor.shape, "weak") if found.weak else (tensor.dtype, tensor.shape))
    return tuple(keys)


def weak_class(dtype: np.dtype) -> type:
    """Return the Python class that is traced with a dtype."""
    return {"b": bool, "i": int, "f": float, "c": complex}[dtype.kind]


def describe_leaf(key: Any) -> str:
    """Return a leaf's part of a key as text."""
    if isinstance(key, type):
        return f"Python {key.__name__}"
    dtype, shape, *weak = key
    return " ".join([*weak, f"{dtype.name}[{','.join(map(str, shape))}]"])


def describe_static(key: Any) -> str:
    """Return a static value's key as text."""
    kind, value = key
    if kind is float:
        return repr(float.fromhex(value))
    if isinstance(value, tuple) and issubclass(kind, tuple):
        return f"({', '.join(map(describe_static, value))}{',' if len(value) == 1 else ''})"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def describe_key(key: CallKey, names: Sequence[str]) -> str:
    """Return a key as a signature: ``x: float64[3], n=2``."""
    parts = [f"{name}: {describe_leaf(leaf)}" for name, leaf in zip(names, key.leaves, strict=True)]
    parts += [f"{name}={describe_static(value)}" for name, value in key.statics]
    return ", ".join(parts)


def distance(old: CallKey, new: CallKey) -> int:
    """Return how far apart two keys are: in how many classes, dtypes, shapes and static values they differ."""
    if old.tree != new.tree:
        return 1000
    count = int(old.statics != new.statics) + int(old.orders != new.orders)
    count += int(old.engine != new.engine) + int(old.rules != new.rules)
    for a, b in zip(old.leaves, new.leaves, strict=True):
        if a != b:
            count += 2 if _leaf_kind(a, b) == "dtype" and a[1] != b[1] else 1
    return count


def difference(old: CallKey, old_names: Sequence[str], new: CallKey, names: Sequence[str]) -> str:
    """Return the first difference between two keys in words, its first word being the kind.

    Parameters
    ----------
    old, new : CallKey
    old_names, names : sequence of str
        What their leaves are called.
    """
    if old.tree != new.tree:
        return f"tree: {_changed_tree(old.tree, old_names, new.tree, names)}"
    for name, a, b in zip(names, old.leaves, new.leaves, strict=True):
        if a != b:
            return f"{_leaf_kind(a, b)}: {name} was {describe_leaf(a)}, now {describe_leaf(b)}"
    if old.orders != new.orders:
        return "order: the keys of a dict come in another order"
    if old.engine != new.engine:
        return "engine: a block chooses another engine"
    if old.rules != new.rules:
        return f"rules: types were {old.rules or 'NumPy'}'s, now {new.rules or 'NumPy'}'s"
    return f"static: {_changed_static(old.statics, new.statics)}"


def _changed_tree(old: PyTreeDef, old_names: Sequence[str], new: PyTreeDef, names: Sequence[str]) -> str:
    added = [n for n in names if n not in old_names]
    gone = [n for n in old_names if n not in names]
    if not added and not gone:
        return f"arguments were {old}, now {new}"
    parts = [f"{', '.join(which)} {verb}" for which, verb in ((added, "is new"), (gone, "is gone")) if which]
    return "; ".join(parts)


def _leaf_kind(old: Any, new: Any) -> str:
    if isinstance(old, type) or isinstance(new, type) or len(old) != len(new):
        return "weak"
    return "dtype" if old[0] != new[0] else "shape"


def _changed_static(old: Sequence[Any], new: Sequence[Any]) -> str:
    before, after = dict(old), dict(new)
    for name, value in after.items():
        if name not in before:
            return f"argument {name} is new"
        if before[name] != value:
            return f"{name} was {describe_static(before[name])}, now {describe_static(value)}"
    return f"argument {next(name for name in before if name not in after)} is gone"
