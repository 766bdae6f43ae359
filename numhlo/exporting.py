"""`numhlo.export` and `numhlo.load`: a traced function as a file of StableHLO that can be called again as it was.

The file is StableHLO text that every other reader of StableHLO takes. What StableHLO does not say, the structures of
arguments and results and which arguments the function updates, stands in one attribute of the module, as JSON.
"""

from __future__ import annotations

import json
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from numhlo.compilation.entry import check_written
from numhlo.compilation.jit import jit
from numhlo.compilation.jitted_function import JittedFunction
from numhlo.compilation.pytree_text import from_json, to_json
from numhlo.lowering import ir
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, DataDependentShapeError, UnsupportedError
from numhlo.stablehlo import Module
from numhlo.stablehlo import load as load_module
from numhlo.tracer.core.callable_arguments import require_callable
from numhlo.tracer.python.callbacks import TARGET
from numhlo.tracer.trees.pytree_paths import structure_paths
from numhlo.tracer.trees.pytrees import LEAF, PyTreeDef, tree_flatten, tree_unflatten

__all__ = ["Exported", "export", "load"]

_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"?|([\[{])|([\]}])', re.DOTALL)
"""A string, in which brackets are none; or one that opens; or one that closes."""

MOST_LEVELS = 400
"""Brackets in brackets that the description of a call may have: two for each container in a container."""

ATTRIBUTE = "numhlo.call"
"""The module's attribute that says how its function is called."""

LOST_RULES = {"numhlo.custom_jvp": "custom_jvp", "numhlo.custom_vjp": "custom_vjp"}
"""Composites whose derivative is a Python function, by their names."""


class Exported:
    """A program with one function, and how Python calls it; made by `export` and `load`.

    Attributes
    ----------
    module : numhlo.stablehlo.Module
        Its function ``main`` takes the arguments' leaves, and returns the results' leaves, then the new contents of the
        arguments that are updated.
    in_tree, out_tree : PyTreeDef
        Of ``(args, kwargs)``, and of the result.
    updated : tuple of int
        Numbers of the argument leaves that the function writes into.

    Examples
    --------
    >>> import numpy as np
    >>> import numhlo
    >>> def decay(state, *, rate):
    ...     state["x"] *= rate
    ...     return {"total": state["x"].sum()}
    >>> exported = numhlo.export(decay, {"x": np.ones(3)}, rate=0.5)
    >>> state = {"x": np.array([2.0, 4.0, 6.0])}
    >>> exported(state, rate=0.5), state
    ({'total': Array(6.)}, {'x': array([1., 2., 3.])})
    """

    def __init__(self, module: Module, in_tree: PyTreeDef, out_tree: PyTreeDef, updated: tuple[int, ...]) -> None:
        self.module = module
        self.in_tree, self.out_tree, self.updated = in_tree, out_tree, updated
        self._function = module.callable()
        self._names = structure_paths(in_tree)

    def __repr__(self) -> str:
        updated = ", ".join(self._names[k] for k in self.updated)
        return f"<exported {self._function!r}{f', which updates {updated}' if updated else ''}>"

    def _repr_html_(self) -> str:
        return self.module._repr_html_()

    def __reduce__(self) -> Any:
        return _exported_again, (self.module,)

    def __deepcopy__(self, memo: dict[int, Any]) -> Exported:
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function: compiled, or as part of the function that is being traced.

        Raises
        ------
        ArgumentError, ShapeError, DTypeError
            If the arguments are not what was exported.
        MutationError
            If an argument that is updated is read-only, or shares memory with another one.
        """
        leaves, tree = tree_flatten((args, kwargs))
        if tree != self.in_tree:
            raise ArgumentError(
                "an exported function was called with other arguments than it was exported for",
                where=capture_location(),
                why=f"it takes the structure {self.in_tree}, got {tree}",
                fix="leave static arguments out: they are part of the program",
            )
        check_written("the exported function", self.updated, self._names, leaves)
        found = self._function(*leaves)
        results = found if isinstance(found, tuple) else (found,)
        count = self.out_tree.num_leaves
        for number, new in zip(self.updated, results[count:], strict=True):
            leaves[number][...] = new
        return tree_unflatten(self.out_tree, results[:count])

    def as_text(self) -> str:
        """Return the program as StableHLO text, with the attribute that `load` reads."""
        return self.module.as_text()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the program into a file that `load` reads, and every other reader of StableHLO text.

        Parameters
        ----------
        path : path_like
            By custom with the ending ``.mlir``.
        """
        Path(path).write_text(self.as_text(), encoding="utf-8", newline="\n")


def export(fun: Callable[..., Any], /, *specs: Any, **kwspecs: Any) -> Exported:
    """Trace a function for arguments, and return it as a program that can be saved, and called without its source.

    Parameters
    ----------
    fun : callable
        A function, or what `jit` made of one; its static arguments become part of the program.
    *specs, **kwspecs
        The arguments, or `ShapeDtypeStruct`s in their places.

    Returns
    -------
    Exported

    Raises
    ------
    UnsupportedError
        If the function calls back into Python, which no file can hold.
    ArgumentError
        If a structure has a class, or metadata, that can't be written.

    Warns
    -----
    UserWarning
        If the function has derivative rules of its own: the program keeps what it computes, not the rules.

    Examples
    --------
    >>> import numpy as np
    >>> exported = export(lambda x: (x, x.sum()), np.arange(3.0))
    >>> exported(np.array([1.0, 2.0, 3.0]))
    (Array([1., 2., 3.]), Array(6.))
    >>> print(exported.as_text())
    module @jit_lambda attributes {numhlo.call = "..."} {
    ...
    """
    require_callable(fun, "export: fun")
    jitted = fun if isinstance(fun, JittedFunction) else jit(fun)
    traced = jitted.trace(*specs, **kwspecs)
    graph = traced.module
    if traced.rebound is not None:
        raise UnsupportedError(
            f"{traced.name} can't be exported: it rebinds items of a container among its arguments",
            where=capture_location(),
            why="a program in a file knows arrays only, and would not update the container",
            fix="work on a copy of the container, dict(x) or list(x), and return it",
        )
    if traced.has_cuts:
        raise DataDependentShapeError(
            f"{traced.name} can't be exported: the length of a result depends on values",
            where=capture_location(),
            why="results of a program in a file have shapes that are known",
            fix="return the whole array and the mask, or numhlo.numpy.nonzero(mask, size=n)",
        )
    _require_portable(graph)
    call = {"arguments": to_json(traced.in_tree), "results": to_json(traced.out_tree), "updated": list(traced.written)}
    graph.attributes[ATTRIBUTE] = _described(call)
    return Exported(Module(graph), traced.in_tree, traced.out_tree, traced.written)


def load(path: str | PathLike[str]) -> Exported:
    """Read a program from a file, ready to be called.

    Parameters
    ----------
    path : path_like
        What `Exported.save` wrote, or any StableHLO program with a function ``main``: its arguments are then arrays by
        position, and its result is the array, or a tuple of them.

    Returns
    -------
    Exported

    Raises
    ------
    ParseError, UnsupportedError
        As `numhlo.stablehlo.load`.
    ArgumentError
        If the file's structures have classes that are not there: their modules must be imported before.

    Examples
    --------
    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "double.mlir")
    ...     export(lambda d: {"y": 2 * d["x"]}, {"x": np.ones(2)}).save(path)
    ...     load(path)({"x": np.array([1.0, 2.0])})
    {'y': Array([2., 4.])}
    """
    return exported_from(load_module(path), path)


def exported_from(module: Module, path: str | PathLike[str]) -> Exported:
    """Return a program that was read as a function of what its attribute describes; a path is for messages."""
    written = module.graph.attributes.get(ATTRIBUTE)
    if written is None:
        return Exported(module, *_plain_call(module))
    try:
        call = json.loads(_shallow(written))
        trees = from_json(call["arguments"]), from_json(call["results"])
        updated = tuple([operator.index(k) for k in call["updated"]])
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, ArgumentError):
            raise
        raise ArgumentError(
            f"{path}: attribute {ATTRIBUTE} can't be read: {error}", where=capture_location()
        ) from error
    _check_call(module, path, *trees, updated)
    return Exported(module, *trees, updated)


def _shallow(written: str) -> str:
    """Return JSON text that is not nested too deeply for readers of JSON, which are recursive."""
    depth = 0
    for match in _BRACKET.finditer(written):
        depth += (match[1] is not None) - (match[2] is not None)
        if depth > MOST_LEVELS:
            raise ValueError(f"it is nested deeper than {MOST_LEVELS} levels")
    return written


def _exported_again(module: Module) -> Exported:
    return exported_from(module, "<pickle>")


def _plain_call(module: Module) -> tuple[PyTreeDef, PyTreeDef, tuple[int, ...]]:
    """Return how a program is called that does not say: arrays by position, one result or a tuple."""
    source = module.callable().source
    args = PyTreeDef(tuple, None, (LEAF,) * len(source.argument_types))
    count = len(source.result_types)
    results = LEAF if count == 1 else PyTreeDef(tuple, None, (LEAF,) * count)
    return PyTreeDef(tuple, None, (args, PyTreeDef(dict, (), ()))), results, ()


def _check_call(
    module: Module, path: str | PathLike[str], in_tree: PyTreeDef, out_tree: PyTreeDef, updated: tuple[int, ...]
) -> None:
    source = module.callable().source
    counts = len(source.argument_types), len(source.result_types)
    described = in_tree.num_leaves, out_tree.num_leaves + len(updated)
    if counts != described or not all(0 <= k < in_tree.num_leaves for k in updated):
        raise ArgumentError(
            f"{path}: attribute {ATTRIBUTE} is not about this program",
            where=capture_location(),
            why=f"(arguments, results) are {counts} in the program, and {described} in the attribute",
        )


def _described(call: Mapping[str, Any]) -> str:
    try:
        return _shallow(json.dumps(call))
    except (RecursionError, ValueError) as error:
        raise ArgumentError(
            "the arguments or the results are nested too deeply to be written into a file",
            where=capture_location(),
            why=f"{MOST_LEVELS // 2} containers in containers can",
            fix="put the arrays into one list, or stack them",
        ) from error


def _require_portable(graph: ir.Module) -> None:
    """Raise if the program calls back into Python; warn if it loses derivative rules."""
    lost = set()
    for function in graph.reachable():
        for op in function.body.walk():
            if op.attributes.get("call_target_name") == TARGET:
                raise UnsupportedError(
                    f"{graph.name} can't be exported: it calls the Python function {op.attributes['backend_config']}",
                    where=op.location,
                    why="a program in a file holds no Python",
                    fix="leave the callback out, or write the function in terms of numhlo's operations",
                )
            lost.add(LOST_RULES.get(op.attributes.get("name", "")))
    for rule in sorted(lost - {None}, key=str):
        warnings.warn(
            f"{graph.name} has a {rule} rule, which is not exported: derivatives of the program are those of its ops",
            UserWarning,
            stacklevel=3,
        )
