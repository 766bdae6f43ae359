"""Statements that compute: elementwise operations, comparisons, cumulative operations, reductions, products, sorts."""

from __future__ import annotations

from tests.every_call.lax_generator import COMPLEX, FLOATS, INTEGERS, MOST_ELEMENTS, Generator
from tests.every_call.lax_syntax import Operand

EXACT_UNARY = ("-{0}", "lax.abs({0})", "{0} * 0.5", "1 - lax.abs({0})", "{0} * {0}", "hnp.round({0} * 4) * 0.25")
UNARY = (
    "lax.tanh({0})",
    "lax.sin({0})",
    "lax.cos({0})",
    "lax.exp({0} - 1)",
    "lax.log1p(lax.abs({0}))",
    "lax.sqrt({0} * {0} * 0.5 + 0.5)",
    "lax.atan2({0} * 0.5, hnp.ones_like({0}))",
    "lax.erf({0} * 0.5)",
    "lax.logistic({0})",
)
EXACT_BINARY = (
    "({0} + {1}) * 0.5",
    "({0} - {1}) * 0.5",
    "{0} * {1}",
    "lax.max({0}, {1})",
    "lax.min({0}, {1})",
    "{0} * 0.25 + {1} * 0.75",
    "{0} / (2 + lax.abs({1}))",
)
DISCRETE = ("lax.floor({0} * 3) * 0.25", "lax.sign({0}) * 0.5", "hnp.round({0} * 4) * 0.25")


def unary(g: Generator) -> None:
    """Compute a function of every number."""
    x = g.pick(FLOATS)
    if g.chance(0.5):
        g.value(g.choose(EXACT_UNARY[:5]), x)
    elif x.type.exact and not g.differentiable and g.chance(0.3):
        g.value(g.choose(DISCRETE), x)
    else:
        g.value(g.choose(UNARY), x, exact=False)


def binary(g: Generator) -> None:
    """Combine two arrays, or an array and a number."""
    x = g.pick(FLOATS)
    y: Operand = g.like(x.type._replace(exact=False))
    if x.type.shape and g.chance(0.3):
        y = g.find([x.type.dtype], shape=()) or y
    if len(x.type.shape) > 1 and g.chance(0.3):
        y = g.find([x.type.dtype], shape=x.type.shape[-1:]) or y
    elementwise = EXACT_BINARY if y.type.shape == x.type.shape else [t for t in EXACT_BINARY if "lax.m" not in t]
    g.value(g.choose(elementwise), x, y)


def integers(g: Generator) -> None:
    """Compute with integers, which wrap around."""
    x = g.pick(INTEGERS)
    y = g.like(x.type)
    unsigned = x.type.dtype[0] == "u"
    templates = ["{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} * 3 + 1", "lax.max({0}, {1})", "lax.bitwise_xor({0}, {1})"]
    templates += ["lax.bitwise_and({0}, {1})", "lax.rem({0}, hnp.full_like({0}, 7))", "lax.bitwise_not({0})"]
    templates += [] if unsigned else ["lax.abs({0})", "-{0}", "lax.sign({0})"]
    g.value(g.choose(templates), x, y)


def logical(g: Generator) -> None:
    """Compute with truth values."""
    x = g.pick(("bool",))
    y = g.like(x.type)
    g.value(g.choose(("{0} & {1}", "{0} | {1}", "{0} ^ {1}", "~{0}")), x, y)


def compare(g: Generator) -> None:
    """Compare exact numbers."""
    x = g.pick((*FLOATS, *INTEGERS), exact=True)
    y = g.like(x.type._replace(exact=True))
    g.value(g.choose(("{0} < {1}", "{0} >= {1}", "{0} == {1}", "{0} > {1}")), x, y, dtype="bool")


def select(g: Generator) -> None:
    """Choose between two arrays, element by element."""
    x = g.pick()
    y = g.like(x.type._replace(exact=False))
    mask = g.find(("bool",), shape=x.type.shape) or g.find(("bool",), shape=())
    if mask is None:
        mask = g.like(x.type._replace(dtype="bool", exact=True))
    exact = x.type.exact and y.type.exact
    g.add("hnp.where({0}, {1}, {2})", [mask, x, y], x.type._replace(exact=exact))


def convert(g: Generator) -> None:
    """Change the element type."""
    x = g.pick(exact=True)
    kind = x.type.dtype[0]
    if kind == "c":
        template, dtype = "lax.real({0})", "float64" if x.type.dtype == "complex128" else "float32"
        g.value(template, x, dtype=dtype)
        return
    dtype = g.choose([d for d in (*g.dtypes, *FLOATS) if d not in COMPLEX])
    to = "np.bool_" if dtype == "bool" else f"np.{dtype}"
    if dtype in FLOATS and kind in "iu":
        g.value(f"lax.convert_element_type(lax.rem({{0}}, hnp.full_like({{0}}, 8)), {to}) * 0.125", x, dtype=dtype)
    elif dtype in INTEGERS and kind == "f":
        g.value(f"lax.convert_element_type(lax.floor(lax.abs({{0}}) * 5), {to})", x, dtype=dtype)
    else:
        g.value(f"lax.convert_element_type({{0}}, {to})", x, dtype=dtype)


def complex_numbers(g: Generator) -> None:
    """Compute with complex numbers."""
    x = g.pick(COMPLEX)
    real = "float64" if x.type.dtype == "complex128" else "float32"
    match g.below(5):
        case 0:
            g.value("lax.conj({0})", x)
        case 1:
            g.value("({0} + {1}) * 0.5", x, g.like(x.type._replace(exact=False)))
        case 2:
            g.value("{0} * {1} * 0.5", x, g.like(x.type._replace(exact=False)), exact=False)
        case 3:
            g.value(g.choose(("lax.real({0})", "lax.imag({0})")), x, dtype=real)
        case _:
            y = g.pick((real,))
            g.value(
                "lax.complex({0}, {1}) * 0.7", y, g.like(y.type._replace(exact=False)), dtype=x.type.dtype, exact=False
            )


def cumulative(g: Generator) -> None:
    """Compute a prefix sum, maximum, minimum or product."""
    x = g.pick(FLOATS + INTEGERS, least_rank=1)
    axis = g.below(len(x.type.shape))
    n, more = x.type.shape[axis], f"axis={axis}, reverse={g.chance(0.4)}"
    if g.chance(0.5) or x.type.dtype in INTEGERS:
        names = ("cummax", "cummin") if x.type.dtype in FLOATS else ("cummax", "cummin", "cumsum", "cumprod")
        g.value(f"lax.{g.choose(names)}({{0}}, {more})", x)
    elif g.chance(0.75):
        g.value(f"lax.cumsum({{0}}, {more}) * (1 / {n})", x, exact=False)
    else:
        g.value(f"lax.cumlogsumexp({{0}}, {more}) * 0.1", x, exact=False)


def reduction(g: Generator) -> None:
    """Reduce along some axes."""
    x = g.pick(least_rank=1)
    rank = len(x.type.shape)
    axes = tuple(d for d in range(rank) if g.chance(0.6)) or (rank - 1,)
    shape = tuple(n for d, n in enumerate(x.type.shape) if d not in axes)
    kind = x.type.dtype[0]
    if kind == "b":
        g.value(f"hnp.{g.choose(('any', 'all'))}({{0}}, axis={axes})", x, shape=shape)
    elif kind in "iu":
        name = g.choose(("reduce_sum", "reduce_max", "reduce_min", "reduce_prod"))
        g.value(f"lax.{name}({{0}}, {axes})", x, shape=shape)
    elif kind == "c" or g.chance(0.5):
        g.value(f"hnp.mean({{0}}, axis={axes})", x, shape=shape, exact=False)
    elif x.type.exact and not g.differentiable and g.chance(0.3):
        shape = tuple(n for d, n in enumerate(x.type.shape) if d != axes[0])
        g.value(f"lax.{g.choose(('argmax', 'argmin'))}({{0}}, {axes[0]}, np.int32)", x, shape=shape, dtype="int32")
    else:
        g.value(f"lax.{g.choose(('reduce_max', 'reduce_min'))}({{0}}, {axes})", x, shape=shape)


def product(g: Generator) -> None:
    """Multiply matrices or vectors."""
    x = g.pick(FLOATS, least_rank=1)
    n = x.type.shape[-1]
    y = g.find([x.type.dtype], where=lambda t: len(t.shape) in {1, 2} and t.shape[0] == n)
    if y is None or len(x.type.shape) > 2:
        y = g.like(x.type._replace(shape=(n,), exact=False))
    shape = (*x.type.shape[:-1], *y.type.shape[1:])
    if len(shape) == 2 and shape[0] * shape[1] > MOST_ELEMENTS:
        return
    g.value(f"({{0}} @ {{1}}) * (0.5 / {n})", x, y, shape=shape, exact=False)


def sort(g: Generator) -> None:
    """Sort, alone or with another array, or take the largest."""
    x = g.pick(FLOATS + INTEGERS, least_rank=1)
    axis = g.below(len(x.type.shape))
    n = x.type.shape[axis]
    if not x.type.exact or g.differentiable or g.chance(0.4):
        g.value(f"lax.sort({{0}}, {axis})", x)
    elif g.chance(0.5):
        other = g.find(shape=x.type.shape) or g.like(x.type)
        index = g.below(2)
        exact = other.type.exact or index == 0
        type = (x.type, other.type)[index]._replace(exact=exact)
        g.add(f"lax.sort(({{0}}, {{1}}), {axis}, num_keys=1)[{index}]", [x, other], type)
    elif g.chance(0.5):
        g.value(f"hnp.argsort({{0}}, axis={axis}, stable=True)", x, dtype="int64")
    else:
        k = 1 + g.below(n)
        shape = (*x.type.shape[:-1], min(k, x.type.shape[-1]))
        g.value(f"lax.top_k({{0}}, {shape[-1]})[0]", x, shape=shape)


def associative(g: Generator) -> None:
    """Scan with an associative function."""
    x = g.pick(FLOATS, least_rank=1)
    axis = g.below(len(x.type.shape))
    function = g.choose(("lax.max", "lambda x, y: x * y", "lax.min"))
    exact = function.startswith("lax")
    g.value(f"lax.associative_scan({function}, {{0}}, axis={axis}, reverse={g.chance(0.4)})", x, exact=exact)


MAKERS = [
    *[unary] * 6,
    *[binary] * 6,
    *[integers] * 3,
    logical,
    *[compare] * 2,
    *[select] * 2,
    *[convert] * 2,
    complex_numbers,
    *[cumulative] * 2,
    *[reduction] * 4,
    *[product] * 2,
    *[sort] * 2,
    associative,
]
