"""Random expressions of a shape and dtype: floats stay within -1 ... 1, integers within 0 ... 6, whatever is repeated.

No expression grows differences of its operands much, so hundreds of iterations leave results that can be compared.
"""

from __future__ import annotations

from tests.every_call.source_writer import FLOATS, INTEGERS_BELOW, UnfitError, Variable, Writer

MOST_DEPTH = 2


def expression(w: Writer, shape: tuple[int, ...], dtype: str, depth: int = MOST_DEPTH) -> str:
    """Return an expression that can be assigned to a slice of this shape, with exactly this dtype if `exact`."""
    if depth <= 0 or w.chance(0.15):
        return leaf(w, shape, dtype)
    if not shape and w.chance(0.5):
        return scalar_of_array(w, dtype)
    makers = FLOAT_MAKERS if dtype in FLOATS else INTEGER_MAKERS
    if len(shape) == 1:
        makers = [*makers, *(LINE_MAKERS if dtype in FLOATS else INTEGER_LINE_MAKERS)]
    a, b = expression(w, shape, dtype, depth - 1), expression(w, shape, dtype, depth - 1)
    kinds = [w.weight(f"expression {k}") + 0.1 for k in range(len(makers))]
    return w.random.choices(makers, kinds)[0](w, a, b, shape)


def rebinding(w: Writer, shape: tuple[int, ...], dtype: str) -> str:
    """Return an expression with exactly this shape and dtype, so that a loop can carry it."""
    text = expression(w, shape, dtype)
    same = [v.name for v in w.like(shape, dtype)]
    if shape:
        start = w.choose(same)
        if dtype in FLOATS:
            text = f"np.asarray(0.5 * {start} + 0.5 * ({text}), np.{dtype})"
            if dtype == "float64" and w.chance(0.8):
                text = text[len("np.asarray(") : -len(", np.float64)")]
        else:
            text = f"({start} + {text}) % {INTEGERS_BELOW}"
    elif dtype == "float32":
        text = f"np.float32({text})"
    return text


def leaf(w: Writer, shape: tuple[int, ...], dtype: str) -> str:
    """Return a variable, a slice or a constant."""
    for _ in range(4):
        try:
            if shape and w.chance(0.15):
                break
            return reading(w, shape, dtype)
        except UnfitError:
            continue
    if dtype not in FLOATS:
        return str(w.between(0, INTEGERS_BELOW - 1))
    scalars = [v.name for v in w.like((), dtype)]
    return w.choose(scalars) if scalars and w.chance(0.4) else w.number()


def reading(w: Writer, shape: tuple[int, ...], dtype: str) -> str:
    """Return a variable of the shape, or part of one."""
    same = w.like(shape, dtype)
    if same and w.chance(0.6):
        return w.choose(same).name
    if not shape:
        return element(w, w.array(dtype=dtype))
    if len(shape) == 2:
        candidates = [v for v in w.arrays(2, dtype) if v.shape[0] >= shape[0] and v.shape[1] >= shape[1]]
        v = w.choose(candidates)
        rows, columns = span(w, v.shape[0], shape[0]), span(w, v.shape[1], shape[1])
        return f"{v.name}[{rows}, {columns}]"
    return line(w, shape[0], dtype)


def line(w: Writer, length: int, dtype: str) -> str:
    """Return a one-dimensional part of an array: a slice, a row, or a column."""
    options: list[tuple[Variable, int | None]] = []
    for v in w.arrays(dtype=dtype):
        if len(v.shape) == 1 and v.shape[0] >= length:
            options.append((v, None))
        elif len(v.shape) == 2:
            options += [(v, axis) for axis in (0, 1) if v.shape[1 - axis] >= length]
    v, axis = w.choose(options)
    if axis is None:
        return f"{v.name}[{span(w, v.shape[0], length)}]"
    along = span(w, v.shape[1 - axis], length)
    across = index(w, v.shape[axis])
    return f"{v.name}[{across}, {along}]" if axis == 0 else f"{v.name}[{along}, {across}]"


def span(w: Writer, whole: int, length: int) -> str:
    """Return a slice of so many elements of an axis."""
    if whole == length:
        return w.choose([":", ":", ":", "::-1"])
    start = w.between(0, whole - length)
    forms = [f"{start}:{start + length}"]
    if start == 0:
        forms += [f":{length}", f":{length - whole}"]
    if start + length == whole:
        forms += [f"{start}:", f"-{length}:"]
    if start and start + length < whole:
        forms.append(f"{start}:{start + length - whole}")
    if (whole + 1) // 2 == length:
        forms.append("::2")
    for v in w.indices():
        least, most = v.bounds or (0, 0)
        if least >= 0 and most + length <= whole:
            forms.append(f"{v.name}:{v.name} + {length}")
    return w.choose(forms)


def index(w: Writer, length: int) -> str:
    """Return an index that is in the bounds of an axis."""
    found = w.indices()
    if not found or w.chance(0.15):
        return str(w.between(0, length - 1)) if w.chance(0.7) else str(-w.between(1, length))
    v = w.choose(found)
    least, most = v.bounds or (0, 0)
    forms = []
    if least >= 0 and most < length:
        forms += [v.name] * 3
    if least >= 1 and most <= length:
        forms += [f"{v.name} - 1"] * 2
    if least >= -1 and most < length - 1:
        forms += [f"{v.name} + 1"] * 2
    if not forms:
        forms = [f"{v.name} % {length}", f"(3 * {v.name} + 1) % {length}", f"-1 - {v.name} % {length}"]
    return w.choose(forms)


def element(w: Writer, v: Variable) -> str:
    """Return an element of an array, at times one whose index is computed from values."""
    integers = [x for x in w.arrays(1, "int64") if x is not v]
    if integers and len(v.shape) == 1 and w.chance(0.2):
        x = w.choose(integers)
        return f"{v.name}[{x.name}[{index(w, x.shape[0])}] % {v.shape[0]}]"
    return f"{v.name}[{', '.join(index(w, n) for n in v.shape)}]"


def scalar_of_array(w: Writer, dtype: str) -> str:
    """Return a reduction, a product, or an element of an array."""
    v = w.array(dtype=dtype)
    if dtype not in FLOATS:
        forms = [f"{v.name}.max()", f"{v.name}.min()", f"{v.name}.sum() % {INTEGERS_BELOW}", element(w, v)]
        return w.choose(forms)
    forms = [f"{v.name}.mean()", f"np.max({v.name})", f"{v.name}.min()", f"np.mean(np.abs({v.name}))", element(w, v)]
    if len(v.shape) == 1:
        other, n = w.choose(w.like(v.shape, dtype)), v.shape[0]
        forms += [
            f"{v.name} @ {other.name} / {n}",
            f"np.dot({v.name}, {other.name}) / {n}",
            f"np.sort({v.name})[{n // 2}]",
        ]
        forms += [f"{v.name}[np.argmax({other.name})]", f"np.median({v.name})"]
    return w.choose(forms)


def condition(w: Writer) -> str:
    """Return a scalar condition on values of arrays."""
    dtype = w.choose([v.dtype for v in w.arrays()])
    if dtype not in FLOATS:
        return f"{scalar_of_array(w, dtype)} {w.choose(['<', '>=', '=='])} {w.between(1, 5)}"
    left = scalar_of_array(w, dtype)
    right = w.number(-0.5, 0.5) if w.chance(0.7) else scalar_of_array(w, dtype)
    return f"{left} {w.choose(['<', '>'])} {right}"


def mask(w: Writer, v: Variable) -> str:
    """Return a condition for each element of an array."""
    if v.dtype not in FLOATS:
        return f"{v.name} {w.choose(['<', '>', '=='])} {w.between(1, 5)}"
    right = w.number(-0.6, 0.6) if w.chance(0.6) else expression(w, v.shape, v.dtype, 1)
    return f"{v.name} {w.choose(['<', '>'])} {right}"


def whole(w: Writer, text: str, shape: tuple[int, ...]) -> str:
    """Return an expression of the whole shape, where a constant or a scalar would do for an assignment."""
    dimensions = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    return f"np.broadcast_to({text}, ({dimensions}))"


FLOAT_MAKERS = [
    lambda w, a, b, s: f"({w.number(0.1, 0.6)} * {a} + {w.number(0.1, 0.4)} * {b})",
    lambda w, a, b, s: f"({w.number(0.1, 0.6)} * {a} - {w.number(0.1, 0.4)} * {b})",
    lambda w, a, b, s: f"np.tanh({a} + {b})",
    lambda w, a, b, s: f"np.minimum({a}, {b})",
    lambda w, a, b, s: f"np.maximum({a}, {b})",
    lambda w, a, b, s: f"0.5 * {a} * {b}",
    lambda w, a, b, s: f"np.clip({a}, {w.number(-0.9, -0.2)}, {w.number(0.2, 0.9)})",
    lambda w, a, b, s: f"np.where({a} > {b}, {a}, {b})",
    lambda w, a, b, s: f"np.where({a} > {w.number()}, 0.8 * {b}, {a})",
    lambda w, a, b, s: f"np.abs({a})",
    lambda w, a, b, s: f"(-{a})",
    lambda w, a, b, s: f"0.7 * np.sin({a})",
    lambda w, a, b, s: f"({a} / (1.5 + np.abs({b})))",
]

LINE_MAKERS = [
    lambda w, a, b, s: f"np.sort({whole(w, a, s)})",
    lambda w, a, b, s: f"np.cumsum({whole(w, a, s)}) / {s[0]}",
    lambda w, a, b, s: f"np.roll({whole(w, a, s)}, {w.choose([1, -1, 2])})",
    lambda w, a, b, s: f"{whole(w, a, s)}[::-1]",
    lambda w, a, b, s: matrix_product(w, a, s),
]

INTEGER_MAKERS = [
    lambda w, a, b, s: f"({a} + {b}) % {INTEGERS_BELOW}",
    lambda w, a, b, s: f"({a} * {w.between(2, 5)} + 1) % {INTEGERS_BELOW}",
    lambda w, a, b, s: f"np.minimum({a}, {b})",
    lambda w, a, b, s: f"np.maximum({a}, {b})",
    lambda w, a, b, s: f"np.where({a} > {b}, {a}, {b})",
    lambda w, a, b, s: f"abs({a} - {b})",
    lambda w, a, b, s: f"({a} ^ {b}) % {INTEGERS_BELOW}",
    lambda w, a, b, s: f"{a} // 2",
]

INTEGER_LINE_MAKERS = [
    lambda w, a, b, s: f"np.sort({whole(w, a, s)})",
    lambda w, a, b, s: f"np.cumsum({whole(w, a, s)}) % {INTEGERS_BELOW}",
    lambda w, a, b, s: f"{whole(w, a, s)}[::-1]",
]


def matrix_product(w: Writer, a: str, shape: tuple[int, ...]) -> str:
    """Return a matrix's product with an expression, or a mean of its rows or columns."""
    fitting = [v for v in w.arrays(2) if v.dtype in FLOATS and v.shape[0] == shape[0]]
    turned = [v for v in w.arrays(2) if v.dtype in FLOATS and v.shape[1] == shape[0]]
    square = [v for v in fitting if v.shape[0] == v.shape[1]]
    forms = [f"{v.name}.mean(axis=1)" for v in fitting] + [f"{v.name}.mean(axis=0)" for v in turned]
    forms += [f"{v.name} @ {whole(w, a, shape)} / {shape[0]}" for v in square]
    return w.choose(forms) if forms else f"0.9 * {a}"
