"""`jax.make_jaxpr`: a function's program, shown; numhlo's programs are StableHLO."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from numhlo.compat.jax.transformations import jit
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.tracer.core.arguments import ShapeDtypeStruct
from numhlo.tracer.trees.pytrees import tree_leaves

EQUATIONS = frozenset({"consts", "effects", "eqns", "jaxpr", "literals"})
"""What programs of JAX's have."""


class Program:
    """A traced function, as text: in the place of JAX's ``ClosedJaxpr``.

    Parameters
    ----------
    traced : object
        What ``jit(f).trace(...)`` returned.
    """

    def __init__(self, traced: Any) -> None:
        self._traced = traced

    def __str__(self) -> str:
        text: str = self._traced.as_text()
        return text

    __repr__ = __str__

    @property
    def in_avals(self) -> list[Any]:
        """Return the shapes and dtypes of the arguments' leaves."""
        types = [v.tensor for v in self._traced.module.main.body.arguments]
        return [ShapeDtypeStruct(t.shape, t.dtype) for t in types]

    @property
    def out_avals(self) -> list[Any]:
        """Return the shapes and dtypes of the results' leaves."""
        return tree_leaves(self.out_info)

    @property
    def out_info(self) -> Any:
        """Return the results' shapes and dtypes in the results' structure."""
        return self._traced.out_info

    def __getattr__(self, name: str) -> NoReturn:
        instead = (
            "; programs are StableHLO; read str(program), or jit(f).trace(...).module" if name in EQUATIONS else ""
        )
        raise AttributeError(f"a program has no attribute {name!r}{instead}", name=name)


def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Sequence[int] = (),
    axis_env: Sequence[tuple[Any, int]] | None = None,
    return_shape: bool = False,
) -> Callable[..., Any]:
    """Return a function that shows the program that ``fun`` becomes.

    Parameters
    ----------
    fun : callable
    static_argnums : int or sequence of int, optional
        Arguments that are no arrays.
    axis_env : None
        Names of axes come from `vmap` alone.
    return_shape : bool, optional
        Also return the shapes and dtypes of results.

    Returns
    -------
    callable
        Takes what ``fun`` takes; gives a `Program`, whose text is StableHLO, not a jaxpr.

    Raises
    ------
    UnsupportedError
        If there are names of axes.

    Examples
    --------
    >>> import numhlo.compat.jax as jax
    >>> "stablehlo.sine" in str(jax.make_jaxpr(lambda x: jax.numpy.sin(x))(1.0))
    True
    """
    if axis_env:
        raise UnsupportedError("make_jaxpr(axis_env=...)", where=capture_location(), fix="use vmap(f, axis_name=...)")
    jitted = jit(fun, static_argnums=static_argnums)

    @functools.wraps(fun)
    def show(*args: Any, **kwargs: Any) -> Any:
        program = Program(jitted.trace(*args, **kwargs))
        return (program, program.out_info) if return_shape else program

    return show
