"""`jax.export`: functions as programs that can be kept, and called without their source; these are StableHLO text.

Shapes are known: a program is exported for each. Programs are differentiable as they are, to any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numhlo import exporting, stablehlo
from numhlo.compat.jax.absent_names import raise_absent as _raise_absent
from numhlo.compat.jax.arrays import immutably
from numhlo.compat.jax.transformations import JittedFunction
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, UnsupportedError
from numhlo.tracer.core.arguments import ShapeDtypeStruct
from numhlo.tracer.core.semantics import immutable_arrays

__all__ = ["Exported", "default_export_platform", "deserialize", "export"]


class Exported:
    """A program for arguments of known types.

    Parameters
    ----------
    exported : numhlo.Exported
    fun_name : str

    Attributes
    ----------
    in_tree, out_tree : PyTreeDef
        Of ``(args, kwargs)``, and of the result.
    """

    platforms = ("cpu",)
    nr_devices = 1
    calling_convention_version = 1
    disabled_safety_checks = ()

    def __init__(self, exported: exporting.Exported, fun_name: str) -> None:
        self._exported, self.fun_name = exported, fun_name
        self.in_tree, self.out_tree = exported.in_tree, exported.out_tree
        self._call = immutably(exported)

    @property
    def in_avals(self) -> tuple[Any, ...]:
        """Return the shapes and dtypes of the arguments' leaves."""
        types = [v.tensor for v in self._exported.module.graph.main.body.arguments]
        return tuple(ShapeDtypeStruct(t.shape, t.dtype) for t in types)

    @property
    def out_avals(self) -> tuple[Any, ...]:
        """Return the shapes and dtypes of the results' leaves."""
        types = [v.tensor for v in self._exported.module.graph.main.body.returns[: self.out_tree.num_leaves]]
        return tuple(ShapeDtypeStruct(t.shape, t.dtype) for t in types)

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Call the program, compiled, or as part of the function that is being traced."""
        return self._call(*args, **kwargs)

    def mlir_module(self) -> str:
        """Return the program as StableHLO text."""
        return self._exported.as_text()

    def has_vjp(self) -> bool:
        """Return True: programs are differentiable."""
        return True

    def serialize(self, vjp_order: int = 0) -> bytearray:
        """Return the program as bytes that `deserialize` reads; derivatives of any order come with it."""
        return bytearray(self.mlir_module().encode())

    def __repr__(self) -> str:
        return f"Exported(fun_name={self.fun_name!r}, in_avals={self.in_avals}, out_avals={self.out_avals})"


def export(
    fun_jit: Any, *, platforms: Sequence[str] | None = None, disabled_checks: Sequence[Any] = ()
) -> Callable[..., Exported]:
    """Return a function that exports a jitted one for its arguments.

    Parameters
    ----------
    fun_jit : callable
        Made by `jit`.
    platforms : sequence of str, optional
        ``["cpu"]``.
    disabled_checks : sequence, optional
        Accepted.

    Returns
    -------
    callable
        Takes the arguments, or `ShapeDtypeStruct`s; returns an `Exported`.

    Raises
    ------
    ArgumentError
        If the function is not jitted.
    UnsupportedError
        If another platform is asked for.

    Examples
    --------
    >>> import numhlo.compat.jax as jax
    >>> exported = export(jax.jit(lambda x: 2 * x))(jax.ShapeDtypeStruct((2,), float))
    >>> deserialize(exported.serialize()).call(jax.numpy.ones(2))
    Array([2., 2.], dtype=float...)
    """
    if not isinstance(fun_jit, JittedFunction):
        raise ArgumentError(f"jax.export.export({fun_jit!r})", where=capture_location(), fix="pass jax.jit(f)")
    if platforms is not None and list(platforms) != ["cpu"]:
        raise UnsupportedError(
            f"jax.export.export(platforms={list(platforms)})",
            where=capture_location(),
            why="there is one platform, the processor; StableHLO text is the same for all",
            fix="leave it out",
        )

    def made(*args: Any, **kwargs: Any) -> Exported:
        with immutable_arrays():
            return Exported(exporting.export(fun_jit.unwrapped, *args, **kwargs), fun_jit.__name__.strip("<>"))

    return made


def deserialize(blob: bytes | bytearray) -> Exported:
    """Return the program that `Exported.serialize` made bytes of.

    Parameters
    ----------
    blob : bytes or bytearray

    Returns
    -------
    Exported

    Raises
    ------
    ParseError
        If it is no StableHLO text.
    """
    module = stablehlo.parse(bytes(blob).decode())
    return Exported(exporting.exported_from(module, "the bytes"), module.graph.name.removeprefix("jit_"))


def default_export_platform() -> str:
    """Return the one platform."""
    return "cpu"


_ADVICE = dict.fromkeys(
    ["SymbolicScope", "is_symbolic_dim", "symbolic_args_specs", "symbolic_shape"],
    "shapes are known here: export a program for each",
)


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, _ADVICE)
