"""jit, vmap, grad and their kin under JAX's rules: the functions they are given are traced with immutable arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, ParamSpec, Protocol, TypeVar, overload
from weakref import WeakKeyDictionary

import numpy as np

from numhlo.compat.jax.arrays import Array, immutable_functions, immutably
from numhlo.compat.jax.compile_time import around_blocks
from numhlo.compat.jax.deleted_arrays import DeletedArray, delete_donated, refuse_deleted, require_there
from numhlo.compat.jax.refusals import errors_of_both_kinds
from numhlo.compat.jax.sharding import require_parts, reshard
from numhlo.compat.jax.stages import TracedStage
from numhlo.compilation import jit as compilation
from numhlo.compilation import jitted_function, shape_evaluation
from numhlo.compilation.argument_leaves import donated_leaves
from numhlo.compilation.disabling import disable_jit as disable_jit
from numhlo.compilation.entry import Entry
from numhlo.compilation.signature import Call, Selection
from numhlo.library.lax import scopes
from numhlo.library.transformations import checkpointing, closures, jacobians, transposing
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, SignatureError
from numhlo.tracer.core.arguments import ShapeDtypeStruct
from numhlo.tracer.core.callable_arguments import require_callable
from numhlo.tracer.core.jax_types import RULES, Process, jax_rules
from numhlo.tracer.core.operands import full_of
from numhlo.tracer.core.semantics import immutable_arrays
from numhlo.tracer.transformations import differentiating, vectorizing
from numhlo.tracer.trees.pytree_registration import Partial
from numhlo.tracer.trees.pytrees import tree_flatten, tree_leaves, tree_map

P = ParamSpec("P")
R = TypeVar("R")
Transformation = TypeVar("Transformation", bound=Callable[..., Any])


def traced_immutably(fun: Callable[P, R]) -> Callable[P, R]:
    """Return ``fun`` under JAX's rules, its results untouched; what it does to containers stays its own."""

    @functools.wraps(fun)
    def body(*args: P.args, **kwargs: P.kwargs) -> R:
        own_args, own_kwargs = tree_map(lambda leaf: leaf, (args, kwargs))
        with errors_of_both_kinds, immutable_arrays():
            return fun(*own_args, **own_kwargs)

    return body


class JittedFunction(jitted_function.JittedFunction[P, R]):
    """A jitted function whose results are immutable arrays, which machine code makes as such.

    Attributes
    ----------
    __wrapped__ : callable
        The plain function, traced under JAX's rules.
    array_type : type
        Of the results.
    """

    __slots__ = ()
    array_type = Array

    @staticmethod
    def usual_rules() -> str | None:
        """Return the name of JAX's rules under the settings of the process."""
        return RULES[Process.settings].name

    def _key(self, *args: Any) -> Any:
        with immutable_arrays():
            return super()._key(*args)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call through the cache; what is not made by a program may be anything."""
        for x in tree_leaves((args, kwargs)):
            if type(x) is DeletedArray:
                refuse_deleted(x)
        return immutably(super()._call)(args, kwargs)

    @property
    def unwrapped(self) -> Any:
        """Return numhlo's own function."""
        return jitted_function.JittedFunction.like(self)

    def _cache_size(self) -> int:
        """Return for how many signatures there are programs."""
        return self.cache_info().currsize

    def trace(self, *args: Any, **kwargs: Any) -> TracedStage:  # type: ignore[override]
        """Trace the function for arguments, or stand-ins of their shapes and dtypes."""
        with immutable_arrays():
            return TracedStage(super().trace(*args, **kwargs))


class OwnRouteFunction(JittedFunction[P, R]):
    """A jitted function with something to do beside its program, whose calls take no route that native code has.

    It deletes the arrays that it was told it may use, once their memory could be a result's, and records how results
    lie on devices.
    """

    __slots__ = ()

    @classmethod
    def of(cls, jitted: Any, in_shardings: Any, out_shardings: Any) -> OwnRouteFunction[P, R]:
        """Return a jitted function as one that also does what its options say."""
        static, donated = jitted._static, jitted._donated
        twice = (static.numbers & donated.numbers) | (static.names & donated.names)
        if twice:
            raise ArgumentError(
                f"jit: static_argnums and donate_argnums cannot intersect, and both name {sorted(twice, key=str)}",
                where=capture_location(),
                fix="donate arrays alone",
            )
        found = cls(jitted.__wrapped__, static, Selection(), inline=jitted._inline, **jitted._options())
        found._donated_here, found._shardings = donated, (in_shardings, out_shardings)
        return found

    def _run(self, call: Call, entry: Entry, leaves: Sequence[Any]) -> Any:
        """Run the program."""
        taken, given = self._shardings
        if taken is not None:
            require_parts(taken, call.args)
        result = entry.run(leaves, call.arguments)
        delete_donated([leaves[k] for k in donated_leaves(call, self._donated_here)], result)
        return result if given is None else reshard(result, given)

    _donated_here = Selection()
    _shardings: tuple[Any, Any] = (None, None)


CHECKED: WeakKeyDictionary[Callable[..., Any], Callable[[dict[str, Any]], Any]] = WeakKeyDictionary()
"""Functions that `checkify` made, which are compiled inside: what makes them with options of `jit`."""

MEANINGLESS = frozenset({"backend", "compiler_options", "device", "inline"})
"""Options of `jit` on which nothing depends here."""


class Jit(Protocol):
    """`jit` with its options given: a decorator that keeps the function's signature, for type checkers."""

    def __call__(self, fun: Callable[P, R], /) -> JittedFunction[P, R]:
        """Jit a function."""
        ...


@overload
def jit(fun: np.ufunc, /, **options: Any) -> JittedFunction[..., Any]: ...
@overload
def jit(fun: Callable[P, R], /, **options: Any) -> JittedFunction[P, R]: ...
@overload
def jit(fun: None = None, /, **options: Any) -> Jit: ...
def jit(fun: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a function that is traced and compiled for each new signature; see `numhlo.jit`.

    Options are JAX's. Donated arguments are deleted where JAX would use their memory; here it is not used, since other
    arrays may lie in it. Shardings are checked, and recorded in results.

    Examples
    --------
    >>> jit(lambda x: x + 1)(2.0)
    Array(3., dtype=float..., weak_type=True)
    """
    if fun is None:
        return functools.partial(jit, **options)
    if fun in CHECKED:
        return CHECKED[fun](options)
    require_callable(fun, "Expected a callable value: jit's fun")
    shardings = [options.pop(name, None) for name in ("in_shardings", "out_shardings")]
    kept = {k: v for k, v in options.items() if k not in MEANINGLESS}
    jitted = compilation.jit(_body_of(fun), autograph=False, **kept)
    if jitted._donated or any(x is not None for x in shardings):
        return OwnRouteFunction.of(jitted, *shardings)
    return JittedFunction.like(jitted)


_BODY = "_numhlo_traced_immutably"


def _body_of(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Return what is traced of a function: the same each time, so that it is compiled once."""
    kept = vars(fun) if isinstance(fun, FunctionType) else {}
    found: Callable[..., Any] | None = kept.get(_BODY)
    if found is None or found.__wrapped__.__wrapped__ is not fun:  # type: ignore[attr-defined] # another's, copied
        found = _giving_immutable_functions(traced_immutably(fun))
        vars(found).pop(_BODY, None)
        if isinstance(fun, FunctionType):
            setattr(fun, _BODY, found)
    return found


def _giving_immutable_functions(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose results' functions return immutable arrays: programs make the arrays alone so."""

    @functools.wraps(fun)
    def body(*args: Any, **kwargs: Any) -> Any:
        return tree_map(immutable_functions, fun(*args, **kwargs), is_leaf=lambda x: isinstance(x, Partial))

    return body


def raising_both(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function whose errors about arguments are those that programs written for JAX catch."""

    @functools.wraps(function)
    def public(*args: P.args, **kwargs: P.kwargs) -> R:
        require_there(args, kwargs)
        with errors_of_both_kinds:
            return function(*args, **kwargs)

    return public


def _adapted(transformation: Transformation, what: str) -> Transformation:
    """Return a transformation whose function is traced under JAX's rules and whose results are immutable."""

    def public(fun: Callable[..., Any], *args: Any, **options: Any) -> Any:
        require_callable(fun, f"Expected a callable value: {transformation.__name__}'s fun")
        with errors_of_both_kinds:
            made = transformation(traced_immutably(fun), *args, **options)
        return raising_both(immutably(made))

    public.__name__ = public.__qualname__ = transformation.__name__
    public.__doc__ = f"{what}; see `numhlo.{transformation.__name__}`."
    return public  # type: ignore[return-value]


def _applied(transformation: Transformation, what: str) -> Transformation:
    """Return a transformation that calls its function at once, under JAX's rules."""

    def public(fun: Callable[..., Any], *args: Any, **options: Any) -> Any:
        require_callable(fun, f"Expected a callable value: {transformation.__name__}'s fun")
        require_there(args)
        with errors_of_both_kinds:
            return immutably(transformation)(traced_immutably(fun), *args, **options)

    public.__name__ = public.__qualname__ = transformation.__name__
    public.__doc__ = f"{what}; see `numhlo.{transformation.__name__}`."
    return public  # type: ignore[return-value]


def vmap(fun: Callable[P, R], *args: Any, spmd_axis_name: Any = None, **options: Any) -> Callable[P, R]:
    """Make a function of one example a function of a batch; see `numhlo.vmap`. There are no devices to name."""
    del spmd_axis_name
    require_callable(fun, "Expected a callable value: vmap's fun")
    with errors_of_both_kinds:
        made = vectorizing.vmap(traced_immutably(fun), *args, **options)
    return raising_both(immutably(made))


def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return the shapes and dtypes of a function's results, which may be `ShapeDtypeStruct`s themselves.

    See `numhlo.eval_shape`.
    """

    def body(*given: Any, **named: Any) -> Any:
        return tree_map(_array_of, fun(*given, **named))

    with around_blocks():
        return shape_evaluation.eval_shape(traced_immutably(body), *args, **kwargs)


def _array_of(leaf: Any) -> Any:
    return full_of(0, leaf.shape, leaf.dtype) if isinstance(leaf, ShapeDtypeStruct) else leaf


grad = _adapted(differentiating.grad, "Make a function that returns the gradient")
value_and_grad = _adapted(differentiating.value_and_grad, "Make a function that returns value and gradient")
jacfwd = _adapted(jacobians.jacfwd, "Make a function that returns the Jacobian, column by column")
_jacrev = _adapted(jacobians.jacrev, "Make a function that returns the Jacobian, row by row")


def jacrev(fun: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, **options: Any) -> Callable[..., Any]:
    """Make a function that returns the Jacobian, row by row; see `numhlo.jacrev`. Results have to be floats."""
    require_callable(fun, "Expected a callable value: jacrev's fun")

    @functools.wraps(fun)
    def of_floats(*args: Any, **kwargs: Any) -> Any:
        found = fun(*args, **kwargs)
        for x in tree_leaves(found[0] if has_aux else found):
            if _dtype_of(x).kind in "biu":
                raise DTypeError(
                    f"jacrev requires real-valued outputs (output dtype that is a sub-dtype of np.floating), "
                    f"but got {_dtype_of(x)}",
                    where=capture_location(),
                    fix="use vjp",
                )
        return found

    return _jacrev(of_floats, argnums, has_aux=has_aux, **options)


jacobian = jacrev
hessian = _adapted(jacobians.hessian, "Make a function that returns the matrix of second derivatives")
_jvp = _applied(differentiating.jvp, "Return a function's value and its derivative along tangents")


def jvp(fun: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool = False) -> Any:
    """Return a function's value and its derivative along tangents; see `numhlo.jvp`. Dtypes have to agree."""
    leaves = [tree_leaves(x) for x in (primals, tangents)]
    if len(leaves[0]) == len(leaves[1]):
        for primal, tangent in zip(*leaves, strict=True):
            _require_tangent(primal, tangent)
    return _jvp(fun, primals, tangents, has_aux=has_aux)


def _dtype_of(x: Any) -> np.dtype:
    """Return the dtype that an argument has as an array."""
    dtype = getattr(x, "dtype", None)
    rules = jax_rules()
    if dtype is None:
        return rules.numbers.get(type(x)) or rules.canonical(np.result_type(x))
    return rules.canonical(dtype) if isinstance(dtype, np.dtype) else dtype


def _has_dtype(x: Any, wanted: Any) -> bool:
    """Return whether a tangent has its primal's dtype, if that is one of floats; Python's floats have any."""
    return wanted.kind not in "fc" or type(x) in (float, complex) or _dtype_of(x) == wanted


def _require_tangent(primal: Any, tangent: Any) -> None:
    found, wanted = _dtype_of(tangent), _dtype_of(primal)
    if not _has_dtype(tangent, wanted):
        raise DTypeError(
            f"jvp: a tangent of dtype {found} for an argument of dtype {wanted}",
            where=capture_location(),
            why="primal and tangent arguments to jax.jvp do not match; dtypes must be equal",
            fix="convert the tangent",
        )


_vjp = _applied(differentiating.vjp, "Return a function's value and a function that pulls cotangents back")


def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False, reduce_axes: Any = ()) -> Any:
    """Return a function's value and a function that pulls cotangents back; see `numhlo.vjp`. Dtypes have to agree."""
    del reduce_axes
    values, pull, *aux = _vjp(fun, *primals, has_aux=has_aux)
    dtypes = [getattr(x, "dtype", None) for x in tree_leaves(values)]
    checked = Partial(_of_dtypes(pull.func, dtypes), *pull.args, **pull.keywords)
    return (values, checked, *aux)


def _of_dtypes(pull: Callable[..., Any], dtypes: list[Any]) -> Callable[..., Any]:
    """Return what pulls cotangents back, of the results' dtypes alone; Python's floats have any."""

    @functools.wraps(pull)
    def public(*args: Any) -> Any:
        leaves = tree_leaves(args[-1:])
        for x, wanted in zip(leaves, dtypes, strict=False):
            found = getattr(x, "dtype", None) or np.result_type(x)
            is_weak = type(x) in (float, complex)
            if wanted is not None and wanted.kind in "fc" and found != wanted and not is_weak:
                raise ArgumentError(
                    f"vjp: a cotangent of dtype {found} for a result of {wanted}",
                    where=capture_location(),
                    why="unexpected JAX type (e.g. shape/dtype) for argument to VJP function",
                    fix="convert the cotangent",
                )
        return pull(*args)

    return public


_linearize = _applied(differentiating.linearize, "Return a function's value and its linear approximation")


def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return a function's value and its linear approximation; see `numhlo.linearize`. Dtypes have to agree."""
    value, push, *aux = _linearize(fun, *primals, has_aux=has_aux)
    leaves, tree = tree_flatten(primals)
    checked = _of_tangents(push.func, len(push.args), tree, [_dtype_of(x) for x in leaves])
    return (value, Partial(checked, *push.args, **push.keywords), *aux)


def _of_tangents(push: Callable[..., Any], skipped: int, tree: Any, dtypes: list[Any]) -> Callable[..., Any]:
    @functools.wraps(push)
    def public(*args: Any) -> Any:
        tangents, found = tree_flatten(tuple(args[skipped:]))
        if found != tree:
            raise SignatureError(
                f"linearize: tangents of structure {found} for primals of {tree}",
                where=capture_location(),
                fix="give one tangent for each primal, in the same containers",
            )
        for x, wanted in zip(tangents, dtypes, strict=True):
            if not _has_dtype(x, wanted):
                raise ArgumentError(
                    f"linearize: a tangent of dtype {_dtype_of(x)} for an argument of dtype {wanted}",
                    where=capture_location(),
                    why="linearized function called on tangent values inconsistent with the original primal values",
                    fix="convert the tangent",
                )
        return push(*args)

    return public


checkpoint = _adapted(checkpointing.checkpoint, "Make a function whose values inside are computed again backwards")
remat = checkpoint
linear_transpose = _adapted(transposing.linear_transpose, "Make the transpose of a linear function")
named_call = _adapted(scopes.named_call, "Make a function whose operations are named")
fwd_and_bwd = _applied(transposing.fwd_and_bwd, "Return a function that evaluates, and one that goes backwards")
closure_convert = _applied(closures.closure_convert, "Return a function with the arrays around it as arguments")
