"""Jaxprs: programs as lists of equations, as `make_jaxpr` gives them, and what evaluates them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from numhlo.compat.jax.avals import ShapedArray, get_aval
from numhlo.lowering.ir.records import record

__all__ = [
    "Atom", "ClosedJaxpr", "DropVar", "Jaxpr", "JaxprEqn", "Literal", "Var", "eval_jaxpr", "jaxpr_as_fun",
    "jaxprs_in_params", "new_jaxpr_eqn", "subjaxprs",
]  # fmt: skip


class Var:
    """A variable of a jaxpr: an argument, or a result of an equation.

    Parameters
    ----------
    aval : ShapedArray
    """

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"Var(id={id(self)}):{self.aval.str_short(True)}"


class DropVar(Var):
    """A result that nothing uses."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "_"


class Literal:
    """A number in the place of a variable.

    Parameters
    ----------
    val : scalar
    aval : ShapedArray, optional
    """

    __slots__ = ("aval", "val")

    def __init__(self, val: Any, aval: ShapedArray | None = None) -> None:
        self.val, self.aval = val, get_aval(val) if aval is None else aval

    def __repr__(self) -> str:
        return f"{self.val}:{self.aval.str_short(True)}"


Atom = Var | Literal


@record(eq=False)
class JaxprEqn:
    """An equation: a primitive, its operands, its results and its parameters.

    Attributes
    ----------
    invars : list of Var or Literal
    outvars : list of Var
    primitive : Primitive
    params : dict
    effects : set
    source_info, ctx : object
        The user's line, where it is known; and nothing.
    """

    invars: list[Any]
    outvars: list[Any]
    primitive: Any
    params: dict[str, Any]
    effects: frozenset[Any] = frozenset()
    source_info: Any = None
    ctx: Any = None

    def replace(self, **changes: Any) -> JaxprEqn:
        """Return the equation with other attributes."""
        return replace(self, **changes)

    def __repr__(self) -> str:
        return _Printer().equation(self, "")


def new_jaxpr_eqn(
    invars: Sequence[Any],
    outvars: Sequence[Any],
    primitive: Any,
    params: dict[str, Any],
    effects: Any = frozenset(),
    source_info: Any = None,
    ctx: Any = None,
) -> JaxprEqn:
    """Make an equation."""
    return JaxprEqn(list(invars), list(outvars), primitive, params, frozenset(effects), source_info, ctx)


@record(eq=False)
class Jaxpr:
    """A program of equations, whose constants are arguments.

    Attributes
    ----------
    constvars, invars : list of Var
    outvars : list of Var or Literal
    eqns : list of JaxprEqn
    effects : set
    debug_info : object
    """

    constvars: Sequence[Any]
    invars: Sequence[Any]
    outvars: Sequence[Any]
    eqns: Sequence[JaxprEqn]
    effects: frozenset[Any] = frozenset()
    debug_info: Any = None
    is_high: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        self.constvars, self.invars = list(self.constvars), list(self.invars)
        self.outvars, self.eqns = list(self.outvars), list(self.eqns)

    def replace(self, **changes: Any) -> Jaxpr:
        """Return the program with other attributes."""
        return replace(self, **changes)

    def __str__(self) -> str:
        return _Printer().jaxpr(self, "")

    __repr__ = __str__


class ClosedJaxpr:
    """A program with its constants.

    Parameters
    ----------
    jaxpr : Jaxpr
    consts : sequence of array

    Examples
    --------
    >>> import numhlo.compat.jax as jax
    >>> jax.make_jaxpr(lambda x: jax.lax.sin(x) * x)(np.float32(1))
    { lambda ; a:f32[]. let
        b:f32[] = sin[accuracy=None] a
        c:f32[] = mul b a
      in (c,) }
    """

    __slots__ = ("__weakref__", "consts", "jaxpr")

    def __init__(self, jaxpr: Jaxpr, consts: Sequence[Any]) -> None:
        if len(consts) != len(jaxpr.constvars):
            raise ValueError(f"a jaxpr of {len(jaxpr.constvars)} constants got {len(consts)}")
        self.jaxpr, self.consts = jaxpr, list(consts)

    @property
    def literals(self) -> list[Any]:
        """Return the constants."""
        return self.consts

    @property
    def eqns(self) -> Sequence[JaxprEqn]:
        """Return the equations."""
        return self.jaxpr.eqns

    @property
    def effects(self) -> frozenset[Any]:
        """Return the effects."""
        return self.jaxpr.effects

    @property
    def in_avals(self) -> list[ShapedArray]:
        """Return the arguments' shapes and dtypes."""
        return [v.aval for v in self.jaxpr.invars]

    @property
    def out_avals(self) -> list[ShapedArray]:
        """Return the results' shapes and dtypes."""
        return [v.aval for v in self.jaxpr.outvars]

    def replace(self, *, jaxpr: Jaxpr | None = None, consts: Sequence[Any] | None = None) -> ClosedJaxpr:
        """Return the program with another one, or other constants."""
        return ClosedJaxpr(self.jaxpr if jaxpr is None else jaxpr, self.consts if consts is None else consts)

    def map_jaxpr(self, function: Callable[[Jaxpr], Jaxpr]) -> ClosedJaxpr:
        """Return the program changed by a function."""
        return ClosedJaxpr(function(self.jaxpr), self.consts)

    def __str__(self) -> str:
        return str(self.jaxpr)

    __repr__ = __str__


def eval_jaxpr(jaxpr: Jaxpr, consts: Sequence[Any], *args: Any, propagate_source_info: bool = True) -> list[Any]:
    """Evaluate a program, equation by equation.

    Parameters
    ----------
    jaxpr : Jaxpr
    consts : sequence of array
    *args : array
    propagate_source_info : bool, optional
        Accepted.

    Returns
    -------
    list of array

    Examples
    --------
    >>> import numhlo.compat.jax as jax
    >>> closed = jax.make_jaxpr(lambda x: 2 * x)(1.0)
    >>> [float(x) for x in eval_jaxpr(closed.jaxpr, closed.consts, 3.0)]
    [6.0]
    """
    if len(args) != len(jaxpr.invars):
        raise TypeError(f"a jaxpr of {len(jaxpr.invars)} arguments got {len(args)}")
    known: dict[Any, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    known.update(zip(jaxpr.invars, args, strict=True))

    def read(atom: Any) -> Any:
        return atom.val if isinstance(atom, Literal) else known[atom]

    for equation in jaxpr.eqns:
        functions, params = equation.primitive.get_bind_params(equation.params)
        found = equation.primitive.bind(*functions, *map(read, equation.invars), **params)
        known.update(zip(equation.outvars, found if equation.primitive.multiple_results else [found], strict=True))
    return [read(v) for v in jaxpr.outvars]


def jaxpr_as_fun(closed: ClosedJaxpr) -> Callable[..., list[Any]]:
    """Return a program as a function of its arguments, which gives the list of results."""
    return lambda *args: eval_jaxpr(closed.jaxpr, closed.consts, *args)


def jaxprs_in_params(params: dict[str, Any]) -> Iterator[Jaxpr]:
    """Yield the programs among an equation's parameters."""
    for value in params.values():
        for item in value if isinstance(value, tuple | list) else (value,):
            if isinstance(item, Jaxpr):
                yield item
            elif isinstance(item, ClosedJaxpr):
                yield item.jaxpr


def subjaxprs(jaxpr: Jaxpr) -> Iterator[Jaxpr]:
    """Yield the programs among the equations' parameters, those of the first level."""
    for equation in jaxpr.eqns:
        yield from jaxprs_in_params(equation.params)


def used_variables(equations: Iterable[JaxprEqn], results: Iterable[Any]) -> set[Any]:
    """Return the variables that equations and results use."""
    used = {v for equation in equations for v in equation.invars if isinstance(v, Var)}
    return used | {v for v in results if isinstance(v, Var)}


class _Printer:
    """Names variables in the order in which they come."""

    def __init__(self) -> None:
        self.names: dict[Any, str] = {}

    def name(self, atom: Any) -> str:
        if isinstance(atom, Literal):
            return repr(atom)
        if isinstance(atom, DropVar):
            return "_"
        if atom not in self.names:
            number, text = len(self.names), ""
            while not text or number >= 0:
                text, number = chr(ord("a") + number % 26) + text, number // 26 - 1
            self.names[atom] = text
        return self.names[atom]

    def typed(self, atom: Any) -> str:
        return f"{self.name(atom)}:{atom.aval.str_short(True)}"

    def jaxpr(self, jaxpr: Jaxpr, indent: str) -> str:
        arguments = "; ".join(" ".join(map(self.typed, names)) for names in (jaxpr.constvars, jaxpr.invars))
        lines = [self.equation(e, indent + "    ") for e in jaxpr.eqns]
        results = ", ".join(map(self.name, jaxpr.outvars)) + ("," if len(jaxpr.outvars) == 1 else "")
        one = f"{{ lambda {arguments}. let {'; '.join(lines)} in ({results}) }}"
        if len(one) <= 80 and "\n" not in one:
            return one
        body = "".join(f"\n{indent}    {line}" for line in lines)
        return f"{{ lambda {arguments}. let{body}\n{indent}  in ({results}) }}"

    def equation(self, equation: JaxprEqn, indent: str) -> str:
        params = [
            f"{k}={self.parameter(v, indent + '  ')}" for k, v in sorted(equation.params.items()) if k != "operation"
        ]
        chosen = ""
        if any("\n" in p for p in params):
            chosen = "[" + "".join(f"\n{indent}  {p}" for p in params) + f"\n{indent}]"
        elif params:
            chosen = f"[{' '.join(params)}]"
        operands = "".join(f" {self.name(v)}" for v in equation.invars)
        results = " ".join(map(self.typed, equation.outvars))
        return f"{results} = {equation.primitive.name}{chosen}{operands}"

    def parameter(self, value: Any, indent: str) -> str:
        if isinstance(value, ClosedJaxpr):
            return _Printer().jaxpr(value.jaxpr, indent)
        if isinstance(value, Jaxpr):
            return _Printer().jaxpr(value, indent)
        if isinstance(value, tuple) and value and all(isinstance(x, ClosedJaxpr) for x in value):
            return "(" + "".join(f"\n{indent}  {self.parameter(x, indent + '  ')}" for x in value) + f"\n{indent})"
        if isinstance(value, np.dtype):
            return value.name
        if callable(value):
            return getattr(value, "__name__", type(value).__name__)
        return str(value)
