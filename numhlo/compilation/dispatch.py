"""The quick way into an entry of the cache: match a call with the entry's signature, without building a key.

A route belongs to one entry. It answers calls whose arguments have the entry's structure, exactly its static values,
and arrays that native code takes as they are; every other call is a miss, which goes the long way through the cache.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from operator import is_, itemgetter
from typing import Any

import numpy as np

from numhlo.compilation.entry import Entry
from numhlo.compilation.keys import InstanceKey, weak_class
from numhlo.compilation.result_structure import kind_of
from numhlo.compilation.signature import Call
from numhlo.tracer.core.arguments import LeafType
from numhlo.tracer.core.array import has_own_arithmetic, is_gone, is_weak_array
from numhlo.tracer.trees.pytrees import PyTreeDef, find_container
from numhlo.tracer.trees.written_order import WrittenKeys, as_written

MISS: Any = object()
"""What a route returns for a call that is not its own."""


class Route:
    """The way into one entry.

    Parameters
    ----------
    entry : Entry
    call : Call
        The call that the entry was made for; says which arguments are static, and their values.

    Attributes
    ----------
    native : callable or None
        What makes calls, where nothing has to be looked at in Python before.
    kind : str
        What becomes of its results.
    raises : callable or None
        What raises for the status that it may give.
    """

    __slots__ = (
        "_arrays",
        "_captures",
        "_direct",
        "_expected",
        "_hold",
        "_is_owner",
        "_keyword_count",
        "_keywords",
        "_native",
        "_nodes",
        "_positional",
        "_scalar_classes",
        "_scalars",
        "_shapes",
        "_statics",
        "_types",
        "_unflatten",
        "_weak",
        "_weak_arrays",
        "_written",
        "entry",
        "kind",
        "native",
        "raises",
    )

    def __init__(self, entry: Entry, call: Call) -> None:
        self.entry = entry
        self._hold: Callable[[], bool] | None = entry.guards.hold if entry.guards else None
        self._expected: tuple[Any, ...] = ()  # with what native code compares, in place of `_hold`
        self._native: Callable[..., Any] | None = None
        self._direct: Callable[..., Any] | None = None
        self._unflatten = entry.unflatten
        self.native: Callable[..., Any] | None = None
        self.kind = kind_of(entry.unflatten)
        self.raises: Callable[[int], None] | None = None
        args, kwargs = entry.key.tree.children
        self._types = entry.tensors
        positional: list[Any] = [matcher(child) for child in args.children]
        for number in sorted(k for k in call.statics if isinstance(k, int)):
            positional.insert(number, take_nothing)
        self._positional = tuple(positional)
        self._keywords = tuple(zip(kwargs.metadata, map(matcher, kwargs.children), strict=True))
        keys = dict(zip(call.statics, [key for _, (_, key) in entry.key.statics], strict=True))
        written = as_written(kwargs.metadata, kwargs.metadata) if isinstance(kwargs.metadata, WrittenKeys) else ()
        self._written = [name for name, _ in written]  # an order that tells structures apart
        self._statics = tuple([(k, _reference(v, keys[k])) for k, v in call.statics.items()])
        self._keyword_count = len(self._keywords) + sum(isinstance(name, str) for name in call.statics)
        kinds = enumerate(zip(entry.types, entry.key.leaves, strict=True))
        numbers = {k: (key, t.tensor.dtype) for k, (t, key) in kinds if isinstance(key, type)}
        self._weak = tuple([(k, *of) for k, of in numbers.items()])
        self._weak_arrays = tuple([k for k, t in enumerate(entry.types) if t.weak and k not in numbers])
        self._scalars = tuple(k for k, t in enumerate(entry.types) if t.tensor.shape == () and not t.weak)
        self._captures = entry.captures
        self._is_owner = bool(entry.written or entry.donated)
        self._scalar_classes = [
            object if k in self._weak_arrays else scalar_class(t) for k, t in enumerate(entry.types)
        ]
        owns_scalars = any(self._scalar_classes[k] is not None for k in (*entry.written, *entry.donated))
        self._arrays = {k for k, strides in entry.layout if strides is None}  # even where they have no dimensions
        tells_scalars = any(self._scalar_classes[k] is not None for k in self._arrays)
        plain = not (self._keywords or self._statics or owns_scalars or tells_scalars)  # scalars are read in place
        self._nodes = nodes_of(args) if plain else None
        self._shapes = shapes_of(args, entry.types)

    def try_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the result of a call, or `MISS`."""
        hold = self._hold
        if hold is not None and not hold():
            return MISS
        native = self._native or self._find_native()
        if native is None:
            return MISS
        direct = self._direct
        if direct is not None and not kwargs:
            made = direct(*args)
            if made.__class__ is tuple:
                self.entry.called()
                return self._unflatten(made)
            if made is not None:
                self._raise_status(made)
            if self._is_of_other_shapes(args):
                return MISS
        return self._try_leaves(native, self._match(args, kwargs)) if self._still_holds() else MISS

    def _is_of_other_shapes(self, args: tuple[Any, ...]) -> bool:
        """Return whether an argument shows at a glance that a call, which native code has declined, is another's."""
        if len(args) != len(self._positional):
            return True
        for place, shape in self._shapes:
            argument = args[place]
            if isinstance(argument, np.ndarray) and argument.shape != shape:
                return True
        return False

    def _still_holds(self) -> bool:
        """Return whether captured state is what it was, where native code has looked at it and declined a call."""
        if not self._expected:
            return True
        guards = self.entry.guards
        if not guards.hold():
            return False
        if not all(map(is_, self._expected, guards.expected())):  # equal values have been taken over
            self._find_direct()
        return True

    def _try_leaves(self, native: Callable[..., Any], leaves: list[Any] | None) -> Any:
        if leaves is None:
            return MISS
        made = native(*leaves, *self._captures)
        if made is None:
            if self._is_owner:
                self.entry.check_ownership(leaves)
            arrays = self._lay_out([*leaves, *self._captures])
            if arrays is None:
                return MISS
            if self._is_owner:
                self.entry.set_apart(leaves, arrays)
            made = native(*arrays)
            if made.__class__ is tuple and self._is_owner:
                self.entry.copy_back(leaves, arrays)
        if made.__class__ is tuple:
            self.entry.called()
            return self._unflatten(made)
        if made is not None:
            self._raise_status(made)
        return MISS

    def _raise_status(self, status: int) -> None:
        executable = self.entry.program.executable
        assert executable is not None
        executable.raise_status(status)

    def _lay_out(self, arrays: list[Any]) -> list[Any] | None:
        """Return arrays of the entry's types in the layout that native code takes; None where one is something else."""
        if self.entry.layout:
            return None
        for number, (array, type) in enumerate(zip(arrays, self._types, strict=True)):
            if not isinstance(array, np.ndarray) or array.dtype != type.dtype or array.shape != type.shape:
                return None
            if has_own_arithmetic(array.__class__) or is_weak_array(array) or is_gone(array):
                return None  # refused where it is looked up, or another signature's
            laid_out = np.asarray(array, type.dtype, order="C")
            arrays[number] = laid_out if laid_out.flags.aligned else laid_out.copy()
        return arrays

    def _find_native(self) -> Callable[..., Any] | None:
        """Return the native entry once there is one, where this route may use it."""
        executable = self.entry.program.executable
        if executable is None or any(strides is not None for _, strides in self.entry.layout):
            return None
        if self.entry.observer.times_runs:
            return None
        self._native = executable.fast
        if self._nodes is not None:
            self._find_direct()
        return self._native

    def _find_direct(self) -> None:
        """Make the native way, which compares of what is captured whatever native code can."""
        executable, guards = self.entry.program.executable, self.entry.guards
        assert executable is not None
        assert self._nodes is not None
        make = functools.partial(executable.fast_route, self._nodes, self._scalar_classes, self._captures)
        expected, held = guards.expected(), guards.held()
        looking = make(held) if held else None
        self._direct = looking or make(())
        if looking is not None:
            rest = guards.beyond_held()
            self._expected, self._hold = expected, rest.hold if rest else None
        elif guards:
            self._expected, self._hold = (), guards.hold
        self.native, self.raises = self._direct if self._hold is None else None, executable.raise_status

    def _has_its_keywords(self, kwargs: dict[str, Any]) -> bool:
        """Return whether keywords are as many as the route's, in its order if that tells structures apart."""
        written = self._written
        return len(kwargs) == self._keyword_count and (not written or [k for k in kwargs if k in written] == written)

    def _match(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any] | None:
        """Return the argument leaves, Python scalars as arrays; None where the call is another signature's."""
        if len(args) != len(self._positional) or not self._has_its_keywords(kwargs):
            return None
        for name, reference in self._statics:
            if (args[name] if isinstance(name, int) else kwargs.get(name, MISS)) is not reference():
                return None
        leaves: list[Any] = []
        for take, arg in zip(self._positional, args, strict=True):
            if take is None:
                leaves.append(arg)
            elif not take(arg, leaves):
                return None
        for name, take in self._keywords:
            if take is None:
                leaves.append(kwargs.get(name, MISS))
            elif not take(kwargs.get(name, MISS), leaves):
                return None
        return leaves if self._convert_scalars(leaves) else None

    def _convert_scalars(self, leaves: list[Any]) -> bool:
        """Turn Python and NumPy scalars into arrays; return whether they are of the signature's classes."""
        for number, kind, dtype in self._weak:
            if type(leaves[number]) is not kind:
                return False
            try:
                leaves[number] = np.array(leaves[number], dtype)
            except OverflowError:
                return False
        for number in self._weak_arrays:
            if not is_weak_array(leaves[number]):
                return False
            leaves[number] = np.asarray(leaves[number])
        for number in self._scalars:
            if isinstance(leaves[number], np.generic):
                if number in self._arrays:
                    return False
                leaves[number] = np.asarray(leaves[number])
        return True


class RebindingRoute(Route):
    """The way into an entry that rebinds items of its arguments' containers; for calls without static arguments."""

    __slots__ = ()

    def __init__(self, entry: Entry, call: Call) -> None:
        super().__init__(entry, call)
        self._nodes = None  # the containers are needed, not their leaves alone
        self._unflatten = lambda results: results

    def try_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the result of a call, whose containers are updated, or `MISS`."""
        entry, native = self.entry, self._native or self._find_native()
        if native is None or (self._hold is not None and not self._hold()):
            return MISS
        leaves = self._match(args, kwargs)
        if leaves is None:
            return MISS
        assert entry.rebound is not None
        entry.rebound.check((args, kwargs))
        results = self._try_leaves(native, leaves)
        return MISS if results is MISS else entry.finish(results, (args, kwargs))


def _reference(value: Any, key: Any) -> Callable[[], Any]:
    """Return a function that gives a static value; weakly where the cache holds it so."""
    return weakref.ref(value) if isinstance(key, InstanceKey) else lambda: value


def nodes_of(arguments: PyTreeDef) -> list[tuple[int, int, int]] | None:
    """Return, for each tuple and each leaf, the number of the tuple around it, its place there, and its length or -1.

    None where there is another container: what is in it could be replaced while native code runs.
    """
    found: list[tuple[int, int, int]] = []
    tuples = 0

    def add(children: Sequence[PyTreeDef], holder: int) -> bool:
        nonlocal tuples
        for place, child in enumerate(children):
            if child.node_type not in (None, tuple):
                return False
            found.append((holder, place, -1 if child.node_type is None else len(child.children)))
            if child.node_type is tuple:
                tuples += 1
                if not add(child.children, tuples):
                    return False
        return True

    return found if add(arguments.children, 0) else None


def shapes_of(arguments: PyTreeDef, types: Sequence[LeafType]) -> list[tuple[int, tuple[int, ...]]]:
    """Return the place and the shape of each argument that is a leaf itself."""
    found, leaf = [], 0
    for place, child in enumerate(arguments.children):
        if child.node_type is None:
            found.append((place, types[leaf].tensor.shape))
        leaf += child.num_leaves
    return found


def scalar_class(type: LeafType) -> Any:
    """Return the class of the scalars that a leaf is or, of NumPy's, may be; None for arrays."""
    if type.weak:
        kind = weak_class(type.tensor.dtype)
        return kind if np.dtype(kind) == type.tensor.dtype else object  # which no native code reads
    return type.tensor.dtype.type if type.tensor.shape == () else None


Matcher = Callable[[Any, list[Any]], bool]
"""``take(node, leaves)`` returns whether a node has the expected structure, and appends its leaves."""


def take_nothing(_: Any, __: list[Any]) -> bool:
    """Take a static argument, which is compared elsewhere."""
    return True


def matcher(tree: PyTreeDef) -> Matcher | None:
    """Return what matches a node with a structure, or None for a leaf, which its parent just appends."""
    kind = tree.node_type
    if kind is None:
        return None
    count = len(tree.children)
    takers = [matcher(child) for child in tree.children]
    children = _children_of(tree)

    def take(node: Any, leaves: list[Any]) -> bool:
        found = children(node) if type(node) is kind else None
        if found is None or len(found) != count:
            return False
        for inner, part in zip(takers, found, strict=True):
            if inner is None:
                leaves.append(part)
            elif not inner(part, leaves):
                return False
        return True

    def take_leaves(node: Any, leaves: list[Any]) -> bool:
        found = children(node) if type(node) is kind else None
        if found is None or len(found) != count:
            return False
        leaves.extend(found)
        return True

    return take_leaves if all(t is None for t in takers) else take


def _children_of(tree: PyTreeDef) -> Callable[[Any], Sequence[Any] | None]:
    """Return a function that gives a container's children, or None where its metadata is not the structure's."""
    kind, metadata = tree.node_type, tree.metadata
    if kind is tuple or kind is list:
        return lambda node: node
    if kind is dict and len(metadata) > 1:
        get = itemgetter(*metadata)
        written = [key for key, _ in as_written(metadata, metadata)] if isinstance(metadata, WrittenKeys) else None

        def items(node: Any) -> Sequence[Any] | None:
            if written is not None:
                return get(node) if [*node] == written else None
            try:
                return get(node) if len(node) == len(metadata) else None
            except KeyError:
                return None

        return items
    assert kind is not None
    container = find_container(kind)
    assert container is not None

    orders = PyTreeDef(kind, metadata, ()).written_orders

    def parts(node: Any) -> Sequence[Any] | None:
        found, own = container.flatten(node)
        same = own == metadata and PyTreeDef(kind, own, ()).written_orders == orders
        return list(found) if same else None

    return parts
