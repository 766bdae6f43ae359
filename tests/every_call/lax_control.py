"""Statements with bodies: loops, branches, maps, derivatives and custom rules."""

from __future__ import annotations

from collections.abc import Sequence

from tests.every_call.lax_generator import FLOATS, INTEGERS, MOST_ELEMENTS, Generator
from tests.every_call.lax_syntax import Operand, Type, Var
from tests.every_call.lax_views import view

INDEX = Type("int64", ())


def _state(g: Generator) -> tuple[list[Operand], list[Type]]:
    """Return what a loop's state begins with, some of it twice, and the types of its parts."""
    start = [g.pick() for _ in range(1 + g.below(3))]
    if g.chance(0.35):
        start.append(g.choose(start))
    if g.chance(0.25):
        start.append(g.like(start[0].type))
    if g.chance(0.2):
        start.append(g.constant(start[0].type))
    if g.chance(0.2) and start[0].type.shape:
        start.append(view(g, start[0]))
    start = [start[k] for k in g.rng.permutation(len(start))]
    types = [
        x.type if x.type.dtype in (*INTEGERS, "bool") else x.type._replace(exact=x.type.exact and g.chance(0.5))
        for x in start
    ]
    return start, types


def _limit(g: Generator, *, known: bool) -> Operand:
    """Return the number of iterations: a small constant, or a count among the arguments."""
    if known or g.chance(0.3):
        return _small(g)
    counts = [v for v in g.scopes[0] if v.name.startswith("count")]
    return g.choose(counts)


def _small(g: Generator) -> Operand:
    made = g.constant(Type("int32", ()))
    made.text = f"np.int32({g.choose((1, 2, 2, 3, 3, 4, 5))})"  # type: ignore[union-attr]
    return made


def counted_loop(g: Generator) -> None:
    """Append ``fori_loop``."""
    start, types = _state(g)

    def write(parameters: list[Var]) -> Sequence[Operand]:
        g.write(1, 4)
        return [g.following(parameters[1:], k) for k in range(len(types))]

    limit = _limit(g, known=bool(g.differentiable))
    body = g.body("step", [INDEX, *types], write)
    options = {"carries": len(types), "unroll": g.choose((None, None, None, 2))}
    g.append("fori", types, [limit, *start], bodies=[body], options=options)


def while_loop(g: Generator) -> None:
    """Append ``while_loop``."""
    if g.differentiable:
        counted_loop(g)
        return
    start, types = _state(g)

    def write(parameters: list[Var]) -> Sequence[Operand]:
        g.write(1, 4)
        return [g.following(parameters[1:], k) for k in range(len(types))]

    tested = [k for k, t in enumerate(types) if t.exact and t.dtype in FLOATS]
    body = g.body("step", [INDEX, *types], write)
    options = {"carries": len(types), "tested": g.choose(tested) if tested and g.chance(0.3) else None}
    g.append("while", types, [_limit(g, known=False), *start], bodies=[body], options=options)


def scan(g: Generator) -> None:
    """Append ``scan`` with its state, what it goes through, and what it stacks."""
    start, types = _state(g)
    first = g.find(least_rank=1, where=lambda t: t.shape[0] <= 40)
    length = first.type.shape[0] if first is not None else 1 + g.below(4)
    xs: list[Operand] = [] if first is None else [first]
    if first is not None and g.chance(0.4):
        xs.append(g.find(where=lambda t: t.shape[:1] == (length,)) or first)
    elements = [x.type._replace(shape=x.type.shape[1:]) for x in xs]
    stacked: list[Type] = []

    def write(parameters: list[Var]) -> Sequence[Operand]:
        g.write(1, 4)
        results = [g.following(parameters[: len(types)], k) for k in range(len(types))]
        small = [v for v in g.scopes[-1] if v.type.size * length <= MOST_ELEMENTS]
        given = [g.choose(small[-4:]) for _ in range(g.below(3)) if small]
        stacked.extend(v.type for v in given)
        return [*results, *given]

    body = g.body("step", [*types, *elements], write)
    options = {"carries": len(types), "length": length, "reverse": g.chance(0.35), "unroll": g.choose((1, 1, 1, 2))}
    targets = [*types, *[t._replace(shape=(length, *t.shape)) for t in stacked]]
    g.append("scan", targets, [*start, *xs], bodies=[body], options=options)


def _branch_types(g: Generator) -> list[Type]:
    return [g.pick().type._replace(exact=False) if g.chance(0.3) else g.pick().type for _ in range(1 + g.below(2))]


def branch(g: Generator) -> None:
    """Append ``cond`` or ``switch``."""
    types = _branch_types(g)
    passed = [g.pick() for _ in range(g.below(3))]
    two = g.chance(0.6)
    chosen = g.like(Type("bool" if two else "int32", ()))

    def write(parameters: list[Var]) -> Sequence[Operand]:
        g.write(0, 3)
        return [g.like(t) for t in types]

    bodies = [g.body("branch", [x.type for x in passed], write) for _ in range(2 if two else 2 + g.below(2))]
    g.append("cond" if two else "switch", types, [chosen, *passed], bodies=bodies)


def mapped(g: Generator) -> None:
    """Append ``map`` or ``vmap``."""
    first = g.find(least_rank=1, where=lambda t: t.shape[0] <= 64)
    if first is None:
        return
    lanes = first.type.shape[0]
    operands: list[Operand] = [first]
    other = g.find(where=lambda t: t.shape[:1] == (lanes,))
    operands += [other] if other is not None and g.chance(0.5) else []
    axes = [0] * len(operands)
    by_vmap = g.chance(0.6)
    if by_vmap and g.chance(0.4):
        operands.append(g.pick())
        axes.append(None)
    if by_vmap and len(first.type.shape) > 1 and g.chance(0.3):
        axes[0], lanes = 1, first.type.shape[1]
        operands, axes = operands[:1], axes[:1]
    types = [
        t if a is None else t._replace(shape=t.shape[:a] + t.shape[a + 1 :])
        for t, a in zip([x.type for x in operands], axes, strict=True)
    ]
    made: list[Type] = []

    def write(parameters: list[Var]) -> Sequence[Operand]:
        g.write(1, 4)
        small = [v for v in g.scopes[-1] if v.type.size * lanes <= MOST_ELEMENTS] or parameters[:1]
        results = [g.choose(small[-3:]) for _ in range(1 + g.below(2))]
        made.extend(v.type for v in results)
        return results

    body = g.body("lane", types, write)
    targets = [t._replace(shape=(lanes, *t.shape)) for t in made]
    kind, options = ("vmap", {"axes": tuple(axes)}) if by_vmap else ("map", {})
    g.append(kind, targets, operands, bodies=[body], options=options)


def _loss(g: Generator, types: Sequence[Type], stem: str, *, scalar: bool) -> tuple:
    """Return a body of floats that can be differentiated, and the type of its result."""
    made: list[Type] = []

    def write(parameters: list[Var]) -> Sequence[Operand]:
        g.write(1, 4)
        floats = [v for v in g.scopes[-1] if v.type.dtype == types[0].dtype]
        out: Operand = g.choose(floats[-3:])
        if scalar:
            out = g.value("hnp.mean({0} * {1})" if g.chance(0.3) else "hnp.mean({0})", out, out, shape=(), exact=False)
        made.append(out.type)
        return [out]

    g.differentiable += 1
    body = g.body(stem, types, write)
    g.differentiable -= 1
    return body, made[0]


def gradient(g: Generator) -> None:
    """Append gradients, or a directional derivative."""
    first = g.pick(("float64", "float32"))
    operands = [first]
    if g.chance(0.4):
        operands.append(g.like(first.type._replace(exact=False)))
    types = [x.type._replace(exact=False) for x in operands]
    if g.chance(0.75):
        body, _ = _loss(g, types, "loss", scalar=True)
        g.append("grad", types, operands, bodies=[body])
        return
    body, out = _loss(g, types, "f", scalar=False)
    tangents = [g.like(t) for t in types]
    out = out._replace(exact=False)
    g.append("jvp", [out, out], [*operands, *tangents], bodies=[body])


def custom(g: Generator) -> None:
    """Append a call of a function that has a rule of its own for its derivative."""
    x = g.pick(("float64", "float32"), least_rank=1)
    type = x.type._replace(exact=False)

    def write(parameters: list[Var]) -> Sequence[Operand]:
        g.write(1, 2)
        same = [v for v in g.scopes[-1] if v.type.fits(type)]
        return [g.choose(same[-2:])]

    g.differentiable += 1
    scopes, g.scopes = g.scopes, []  # rules of custom derivatives close over nothing that is differentiated
    body = g.body("custom", [type], write)
    g.scopes = scopes
    g.differentiable -= 1
    g.append(
        g.choose(("custom_jvp", "custom_vjp")), [type], [x], bodies=[body], options={"factor": g.choose((0.5, -0.25))}
    )


MAKERS = [*[counted_loop] * 4, *[while_loop] * 4, *[scan] * 4, *[branch] * 3, *[mapped] * 3, *[gradient] * 2, custom]
