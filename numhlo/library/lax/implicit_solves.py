"""`custom_linear_solve` and `custom_root`: solutions differentiated by what they solve, not by how they were found.

A solve is a composite that knows its matrix, as a linear function, and the solve with the transpose. Its derivative is
a solve with the same matrix, and that one's transpose a solve with the other: each a composite of this kind again, so
that all orders and directions of derivatives work, whatever loops the solvers have.
Source: Griewank and Walther, "Evaluating Derivatives", chapter 15 (implicit differentiation).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from numhlo.library.transformations.custom_forward import custom_jvp
from numhlo.lowering.ir import Function, Op, capture_location
from numhlo.lowering.ir.errors import ShapeError, UnsupportedError
from numhlo.tracer.building import (
    CustomRule,
    Lanes,
    LinearRule,
    PyTreeDef,
    Tracer,
    Walker,
    asarray,
    bind_with_rule,
    closed_over,
    current_trace,
    map_lanes,
    replay_function,
    shape_of,
    standing_in,
    trace_function,
    tree_flatten,
    tree_map,
    tree_unflatten,
)
from numhlo.tracer.building import operations as b
from numhlo.tracer.building.derivatives import (
    Dual,
    Staged,
    add_tangents,
    instantiate,
    is_differentiable,
    jvp,
    stage_leaves,
    transpose_body,
)

Solver = Callable[[Callable[[Any], Any], Any], Any]


def custom_linear_solve(
    matvec: Callable[[Any], Any],
    b: Any,
    solve: Solver,
    transpose_solve: Solver | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any:
    """Return the ``x`` with ``matvec(x) == b``; its derivatives solve with the same matrix.

    Parameters
    ----------
    matvec : callable
        Linear; takes and returns pytrees like ``b``. It may close over arrays that are differentiated.
    b : pytree of arrays
    solve : callable
        ``solve(matvec, b) -> x``.
    transpose_solve : callable, optional
        ``transpose_solve(vecmat, b) -> x``, for reverse mode, where ``vecmat`` is the transpose of ``matvec``.
    symmetric : bool, optional
        The matrix is its own transpose, and ``solve`` serves both.
    has_aux : bool, optional
        The solvers return pairs of ``x`` and what else they found, which has no derivative.

    Returns
    -------
    pytree
        Like ``b``; or a pair of that and what ``solve`` returned with it.

    Raises
    ------
    ShapeError
        If ``matvec`` or ``solve`` return something else than pytrees like ``b``.
    UnsupportedError
        If reverse mode needs a ``transpose_solve`` that was not given.

    Examples
    --------
    >>> import numpy as np
    >>> from numhlo.tracer.transformations.differentiating import grad
    >>> divide = lambda matvec, b: b / matvec(np.ones(2))
    >>> scaled = lambda a: custom_linear_solve(lambda x: a * x, np.ones(2), divide, symmetric=True)
    >>> grad(lambda a: scaled(a).sum())(np.array([1.0, 2.0]))
    Array([-1.  , -0.25])
    """
    if current_trace() is None:
        return solve(matvec, b)
    return _linear_solve(matvec, b, solve, transpose_solve, symmetric, has_aux, solver_is_linear=False)


def _linear_solve(
    matvec: Callable[[Any], Any],
    b: Any,
    solve: Solver,
    transpose_solve: Solver | None,
    symmetric: bool = False,
    has_aux: bool = False,
    *,
    solver_is_linear: bool,
) -> Any:
    """Return the solution; the transpose of a linear solver solves with the transpose, if it has no loops."""
    leaves, tree = tree_flatten(b)
    arrays = [asarray(x) for x in leaves]
    matrix = _staged_alike(matvec, arrays, tree, "matvec")
    forward = _staged_solve(matrix.function, matrix.captures, arrays, tree, solve, has_aux)
    staged, matrices = [forward], [matrix.function]
    if transpose_solve is not None and not symmetric:
        matrices.append(_transposed(matrix.function, len(arrays)))
        turned = _turned(forward, len(arrays)) if solver_is_linear else None
        staged.append(turned or _staged_solve(matrices[1], matrix.captures, arrays, tree, transpose_solve, has_aux))
    forms = _sharing(staged, len(arrays) + len(matrix.captures))
    halves = [_Half(*pair) for pair in zip(matrices, forms, strict=True)] * (2 if symmetric else 1)
    captures = [c for s in staged for c in s.captures]
    rule = _LinearSolve(halves, len(arrays))
    results = bind_with_rule(
        "numhlo.linear_solve", forms[0], [*arrays, *map(asarray, matrix.captures), *map(asarray, captures)], rule
    )
    return tree_unflatten(forward.out_tree, results)


class _Half(NamedTuple):
    """A matrix, ``matrix(x..., captures...)``, and its solve, ``solve(b..., captures..., what solvers use...)``."""

    matrix: Function
    solve: Function


def _staged_alike(fun: Callable[[Any], Any], arrays: list[Any], tree: PyTreeDef, what: str) -> Staged:
    """Trace a function of pytrees to pytrees of the same types."""
    staged = stage_leaves(lambda *xs: fun(tree_unflatten(tree, xs)), arrays, what)
    _require_alike(staged, tree, arrays, what)
    return staged


def _require_alike(staged: Staged, tree: PyTreeDef, arrays: list[Any], what: str, has_aux: bool = False) -> None:
    found = staged.out_tree.children[0] if has_aux and len(staged.out_tree.children) == 2 else staged.out_tree
    types = [(v.tensor.shape, v.tensor.dtype) for v in staged.function.body.returns[: len(arrays)]]
    if found != tree or types != [(shape_of(x), x.dtype) for x in arrays]:
        given = ", ".join(f"{x.dtype}{list(shape_of(x))}" for x in arrays)
        raise ShapeError(
            f"{what} does not return what it takes",
            where=capture_location(),
            why=f"unknowns and right-hand sides are of one structure and types, here {tree} of {given}",
            fix="return a pytree of the same structure, shapes and dtypes" + ", with what else there is" * has_aux,
        )


def _staged_solve(
    matrix: Function, captures: list[Any], arrays: list[Any], tree: PyTreeDef, solve: Solver, has_aux: bool
) -> Staged:
    """Trace a solver as a function of right-hand side and the matrix's captures."""

    def run(*given: Any) -> Any:
        rest = given[len(arrays) :]

        def matvec(x: Any) -> Any:
            return tree_unflatten(tree, replay_function(matrix, [*map(asarray, tree_flatten(x)[0]), *rest]))

        return solve(matvec, tree_unflatten(tree, given[: len(arrays)]))

    staged = stage_leaves(run, [*arrays, *captures], "solve")
    _require_alike(staged, tree, arrays, "solve", has_aux)
    return staged


def _transposed(matrix: Function, count: int) -> Function:
    """Return the transpose of a linear function by its first ``count`` arguments."""
    arguments = matrix.body.arguments

    def run(*given: Any) -> list[Any]:
        found = transpose_body(matrix.body, [*[None] * count, *given[count:]], given[:count])
        return [instantiate(c, v) for c, v in zip(found[:count], arguments, strict=False)]

    return trace_function(f"transposed_{matrix.name}", run, [v.type for v in arguments])[0]


def _turned(solver: Staged, count: int) -> Staged | None:
    """Return the transpose of a solver; None of one that has none, such as a loop."""
    try:
        return solver._replace(function=_transposed(solver.function, count))
    except UnsupportedError:
        return None


def _sharing(staged: list[Staged], shared: int) -> list[Function]:
    """Return solvers that all take the captures of all, behind the arguments that they share."""
    types = [v.type for v in staged[0].function.body.arguments[:shared]]
    types += [v.type for s in staged for v in s.function.body.arguments[shared:]]
    forms, start = [], shared
    for solver in staged:
        chosen = slice(start, start + len(solver.captures))

        def run(*given: Any, solver: Staged = solver, chosen: slice = chosen) -> list[Any]:
            return replay_function(solver.function, [*given[:shared], *given[chosen]])

        forms.append(trace_function("linear_solve", run, types)[0])
        start = chosen.stop
    return forms


class _LinearSolve(CustomRule[Walker], LinearRule):
    """Differentiates a solve: ``dx`` solves for ``db - dA x``; and transposes one that is linear in ``b``.

    Parameters
    ----------
    halves : list of _Half
        The matrix, and its transpose where there is a solve with it; they may be the same.
    count : int
        Leaves of the right-hand side.
    """

    def __init__(self, halves: list[_Half], count: int) -> None:
        self.halves, self.count = halves, count

    def differentiate(
        self, walker: Walker, op: Op, primals: list[Any], tangents: list[Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Solve, and solve for the tangents."""
        count, matrix = self.count, self.halves[0].matrix
        with walker.in_primal():
            outputs = bind_with_rule("numhlo.linear_solve", self.halves[0].solve, primals, self)
        end = len(matrix.body.arguments)
        duals = [Dual(x, None) for x in outputs[:count]]
        duals += [Dual(*pair) for pair in zip(primals[count:end], tangents[count:end], strict=True)]
        moved = [d.tangent for d in walker.function(matrix, duals)]
        sides = [add_tangents(t, None if m is None else b.negate(m)) for t, m in zip(tangents, moved, strict=False)]
        if all(s is None for s in sides):
            return outputs, [None] * len(outputs)
        filled = [instantiate(s, v) for s, v in zip(sides, op.operands, strict=False)]
        slopes = bind_with_rule("numhlo.linear_solve", self.halves[0].solve, [*filled, *primals[count:]], self)
        return outputs, [*slopes[:count], *[None] * (len(outputs) - count)]

    def transpose(self, op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
        """Solve with the transpose."""
        if len(self.halves) == 1:
            raise UnsupportedError(
                "reverse-mode differentiation of a custom_linear_solve without transpose_solve",
                where=op.location,
                why="its cotangents solve a system with the transposed matrix",
                fix="pass transpose_solve=, or symmetric=True where the matrix is its own transpose",
            )
        known = operands[self.count :]
        given = [instantiate(c, v) for c, v in zip(cotangents, op.results[: self.count], strict=False)]
        rule = _LinearSolve(self.halves[::-1], self.count)
        found = bind_with_rule("numhlo.linear_solve", self.halves[1].solve, [*given, *known], rule)
        return [*found[: self.count], *[None] * len(known)]

    def batch(self, op: Op, operands: Sequence[Lanes], size: int) -> list[Lanes]:
        """Solve lane by lane: each may take its own number of steps."""
        return map_lanes(op, operands, size, {})


def custom_root(
    f: Callable[[Any], Any],
    initial_guess: Any,
    solve: Callable[[Callable[[Any], Any], Any], Any],
    tangent_solve: Solver,
    has_aux: bool = False,
) -> Any:
    """Return a root of ``f``; its derivatives by what ``f`` closes over follow from the implicit function theorem.

    Parameters
    ----------
    f : callable
        Takes and returns pytrees like ``initial_guess``.
    initial_guess : pytree of arrays
        Has no influence on derivatives.
    solve : callable
        ``solve(f, initial_guess) -> root``.
    tangent_solve : callable
        ``tangent_solve(g, y) -> x`` with ``g(x) == y``, for linear ``g``: derivatives of ``f``. Reverse mode transposes
        it, or, where it has loops, calls it with the transposes of derivatives.
    has_aux : bool, optional
        ``solve`` returns a pair of the root and what else it found, which has no derivative.

    Returns
    -------
    pytree
        Like ``initial_guess``; or a pair of that and what ``solve`` returned with it.

    Raises
    ------
    ShapeError
        If ``f`` does not return a pytree like ``initial_guess``.

    Examples
    --------
    >>> from numhlo.tracer.transformations.differentiating import grad
    >>> newton = lambda f, x: x - f(x) / 6.0  # from near 3
    >>> divide = lambda g, y: y / g(1.0)
    >>> float(grad(lambda a: custom_root(lambda x: x * x - a, 3.0, newton, divide))(9.0)) * 6
    1.0
    """
    if current_trace() is None:
        return solve(f, initial_guess)
    guess, tree = tree_flatten(initial_guess)
    staged = _staged_alike(f, [asarray(x) for x in guess], tree, "f")
    moving = [is_differentiable(c.dtype) for c in map(asarray, staged.captures)]

    def residual(x: Any, floats: Sequence[Any], others: Sequence[Any]) -> Any:
        parts = iter(floats), iter(others)
        captures = [next(parts[0] if m else parts[1]) for m in moving]
        return tree_unflatten(tree, replay_function(staged.function, [*map(asarray, tree_flatten(x)[0]), *captures]))

    found_by = stage_leaves(
        lambda *given: solve(
            lambda x: residual(x, *_split(given[len(guess) :], moving)), tree_unflatten(tree, given[: len(guess)])
        ),
        [asarray(x) for x in (*guess, *staged.captures)],
        "solve",
    )

    helpers = [x for x in closed_over([tangent_solve], Tracer) if x.home.open]

    @custom_jvp
    def root(floats: list[Any], others: list[Any], start: Any, around: list[Any], helping: list[Any]) -> Any:
        """Return what the solver finds, which may read arrays from around it: derivatives don't go through it."""
        del helping
        parts = iter(floats), iter(others)
        captures = [next(parts[0] if m else parts[1]) for m in moving]
        given = [*map(asarray, tree_flatten(start)[0]), *captures, *around]
        return tree_unflatten(found_by.out_tree, replay_function(found_by.function, given))

    @root.defjvp
    def _(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        floats, others = primals[:2]
        found = root(*primals)
        x = found[0] if has_aux else found
        _, moved = jvp(lambda c: residual(x, c, others), (floats,), (tangents[0],))

        def matvec(v: Any) -> Any:
            return jvp(lambda x: residual(x, floats, others), (x,), (v,))[1]

        with standing_in(helpers, primals[4]):
            solved = _linear_solve(matvec, moved, tangent_solve, tangent_solve, solver_is_linear=True)
        slope = tree_map(b.negate, solved)
        return found, (slope, tree_map(lambda leaf: 0 * leaf, found[1])) if has_aux else slope

    floats, others = _split(staged.captures, moving)
    return root(floats, others, initial_guess, list(found_by.captures), helpers)


def _split(captures: Sequence[Any], moving: Sequence[bool]) -> tuple[list[Any], list[Any]]:
    """Return those of a function's captures that have derivatives, and the others."""
    floats, others = ([c for c, m in zip(captures, moving, strict=True) if m is wanted] for wanted in (True, False))
    return floats, others
