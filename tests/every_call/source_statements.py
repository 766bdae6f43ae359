"""Random statements: bindings, writes into arrays, views, swaps and calls of helpers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.every_call.source_expressions import (
    condition,
    element,
    expression,
    index,
    leaf,
    line,
    mask,
    rebinding,
    span,
    whole,
)
from tests.every_call.source_writer import FLOATS, INTEGERS_BELOW, UnfitError, Variable, Writer


def rebind(w: Writer) -> None:
    """Bind a name to a new value of its shape and dtype."""
    v = w.choose([v for v in w.variables if v.rebinds and v.bounds is None])
    w.add(f"{v.name} = {rebinding(w, v.shape, v.dtype)}")


def bind_new(w: Writer) -> None:
    v = w.choose([v for v in w.variables if v.bounds is None])
    text = rebinding(w, v.shape, v.dtype)
    name = w.fresh("t")
    w.add(f"{name} = {text}")
    w.bind(Variable(name, v.shape, v.dtype))


def write_slice(w: Writer) -> None:
    """Write into a slice, often from a neighbouring one of the same array."""
    v = w.array()
    if len(v.shape) == 2:
        write_line(w, v)
        return
    n = v.shape[0]
    if w.chance(0.4):
        text = w.choose([f"{v.name}[:-1]", f"{v.name}[1:]"])
        target = w.choose([f"{v.name}[1:]", f"{v.name}[:-1]"])
        length = n - 1
        right = f"0.5 * {text} + 0.4 * {expression(w, (length,), v.dtype, 1)}"
        w.add(f"{target} = {right if v.dtype in FLOATS else f'({text} + 1) % {INTEGERS_BELOW}'}")
        return
    length = w.between(max(1, n - 3), n)
    w.add(f"{v.name}[{span(w, n, length)}] = {expression(w, (length,), v.dtype)}")


def write_line(w: Writer, v: Variable) -> None:
    """Write into a row, a column, a part of one, or a block."""
    rows, columns = v.shape
    if w.chance(0.25):
        shape = (w.between(max(1, rows - 2), rows), w.between(max(1, columns - 2), columns))
        target = f"{v.name}[{span(w, rows, shape[0])}, {span(w, columns, shape[1])}]"
        w.add(f"{target} = {expression(w, shape, v.dtype, 1)}")
        return
    axis = w.between(0, 1)
    n = v.shape[1 - axis]
    length = w.between(max(1, n - 2), n)
    along, across = span(w, n, length), index(w, v.shape[axis])
    places = f"{across}, {along}" if axis == 0 else f"{along}, {across}"
    w.add(f"{v.name}[{places}] = {expression(w, (length,), v.dtype)}")


def write_recurrence(w: Writer) -> None:
    """Write an element, a row or a column that depends on the one before or after it, at the index of a loop."""
    found = w.indices()
    v = w.choose([v for v in w.arrays() if v.dtype in FLOATS])
    axis = w.between(0, len(v.shape) - 1)
    fitting = []
    for i in found:
        least, most = i.bounds or (0, 0)
        fitting += [(i.name, f"{i.name} - 1")] if least >= 1 and most < v.shape[axis] else []
        fitting += [(i.name, f"{i.name} + 1")] if least >= 0 and most < v.shape[axis] - 1 else []
    here, there = w.choose(fitting)
    shape: tuple[int, ...] = ()
    target, source = f"{v.name}[{here}]", f"{v.name}[{there}]"
    if len(v.shape) == 2:
        n = v.shape[1 - axis]
        length = w.choose([n, n, max(1, n - 2)])
        along, shape = span(w, n, length), (length,)
        form = "{0}[{1}, {2}]" if axis == 0 else "{0}[{2}, {1}]"
        target, source = form.format(v.name, here, along), form.format(v.name, there, along)
    w.add(f"{target} = {w.number(0.2, 0.6)} * {source} + {w.number(0.1, 0.4)} * {expression(w, shape, v.dtype, 1)}")


def write_element(w: Writer) -> None:
    v = w.array()
    w.add(f"{element(w, v)} = {expression(w, (), v.dtype, 1)}")


def augment(w: Writer) -> None:
    """Change an array or a part of it in place, by operators that keep it bounded."""
    v = w.array()
    shape, target = v.shape, v.name if v.rebinds else f"{v.name}[...]"
    if w.chance(0.4):
        if len(shape) == 1:
            length = w.between(max(1, shape[0] - 3), shape[0])
            target, shape = f"{v.name}[{span(w, shape[0], length)}]", (length,)
        else:
            target, shape = f"{v.name}[{index(w, shape[0])}]", shape[1:]
    if v.dtype not in FLOATS:
        w.add(f"{target} {w.choose(['%= 5', '//= 2', '^= 1', '&= 3'])}")
        return
    forms = [f"{target} *= {w.number(0.3, 0.9)}", f"{target} /= {w.number(1.1, 1.9)}"]
    forms.append(f"{target} -= 0.3 * ({target} - {expression(w, shape, v.dtype, 1)})")
    forms.append(f"{target} += 0.4 * ({expression(w, shape, v.dtype, 1)} - {target})")
    w.add(w.choose(forms))


def carry_scalar(w: Writer) -> None:
    v = w.choose([v for v in w.variables if not v.is_array and v.bounds is None and v.rebinds])
    if v.dtype in FLOATS:
        w.add(f"{v.name} = 0.5 * {v.name} + {w.number(0.1, 0.5)} * {expression(w, (), v.dtype, 1)}")
    else:
        w.add(f"{v.name} = ({v.name} + {expression(w, (), v.dtype, 1)}) % {INTEGERS_BELOW}")


def take_view(w: Writer) -> None:
    """Bind a new name, or an old one of the same shape, to a view of an array."""
    v = w.array()
    n = v.shape[0]
    if len(v.shape) == 1:
        length = w.choose([n, max(2, n - 1), max(2, n - 2), (n + 1) // 2])
        text, shape = f"{v.name}[{span(w, n, length)}]", (length,)
    else:
        text, shape = view_of_plate(w, v)
    bind_view(w, Variable("", shape, v.dtype), text)


def view_of_plate(w: Writer, v: Variable) -> tuple[str, tuple[int, ...]]:
    rows, columns = v.shape
    options: list[tuple[str, tuple[int, ...]]] = [
        (f"{v.name}[{index(w, rows)}]", (columns,)),
        (f"{v.name}[:, {index(w, columns)}]", (rows,)),
        (f"{v.name}.T", (columns, rows)),
        (f"{v.name}[::-1]", (rows, columns)),
        (f"{v.name}.reshape({columns}, {rows})", (columns, rows)),
        (f"{v.name}.reshape(-1)", (rows * columns,)),
        (f"{v.name}.ravel()", (rows * columns,)),
    ]
    if rows > 2 and columns > 2:
        options.append((f"{v.name}[1:-1, 1:-1]", (rows - 2, columns - 2)))
    return w.choose(options)


def alias(w: Writer) -> None:
    """Give an array another name."""
    v = w.array()
    bind_view(w, v, v.name)


def bind_view(w: Writer, kind: Variable, text: str) -> None:
    names = [] if "rebound_view" in w.without else w.like(kind.shape, kind.dtype, rebinds=True)
    old = [v.name for v in names if v.name != kind.name]
    name = w.choose(old) if old and w.chance(0.4) else w.fresh("v")
    w.add(f"{name} = {text}")
    w.bind(replace(kind, name=name, rebinds=True))


def swap(w: Writer) -> None:
    """Exchange the names of two or three arrays."""
    v = w.choose([v for v in w.variables if v.rebinds and v.bounds is None])
    names = [x.name for x in w.like(v.shape, v.dtype, rebinds=True)]
    if len(names) < 2:
        raise UnfitError
    w.random.shuffle(names)
    names = names[: w.choose([2, 2, 2, 3])]
    w.add(f"{', '.join(names)} = {', '.join(names[1:] + names[:1])}")


def write_masked(w: Writer) -> None:
    v = w.array()
    if v.dtype in FLOATS:
        value = w.choose([w.number(), f"{v.name}[{index(w, v.shape[0])}]" if len(v.shape) == 1 else w.number()])
        w.add(f"{v.name}[{mask(w, v)}] {w.choose(['=', '=', '*='])} {value}")
    else:
        w.add(f"{v.name}[{mask(w, v)}] = {w.between(0, INTEGERS_BELOW - 1)}")


def call_ufunc(w: Writer) -> None:
    """Call a function of NumPy's that writes into an array."""
    v = w.array()
    a, b = leaf(w, v.shape, v.dtype), leaf(w, v.shape, v.dtype)
    forms = [f"np.copyto({v.name}, {a})", f"{v.name}.fill({leaf(w, (), v.dtype)})"]
    forms += [f"np.{w.choose(['minimum', 'maximum'])}({a}, {b}, out={v.name})"]
    if len(v.shape) == 1:
        forms.append(f"{v.name}.sort()")
    if v.dtype in FLOATS:
        forms += [
            f"np.multiply({a}, {b}, out={v.name})",
            f"np.clip({v.name}, {w.number(-0.9, -0.3)}, 0.8, out={v.name})",
        ]
        forms += [
            f"np.tanh({v.name}, out={v.name})",
            f"np.abs({v.name}, {v.name})",
        ]  # NumPy's negative of some strides reads what it wrote
        forms = [f for f in forms if v.dtype == "float64" or "multiply" not in f]
    w.add(w.choose(forms))


def make_array(w: Writer) -> None:
    """Bind a new name to a new array."""
    v = w.array()
    name = w.fresh("w")
    dimensions = str(v.shape[0]) if len(v.shape) == 1 else str(v.shape)
    forms = [f"np.zeros({dimensions}, np.{v.dtype})", f"np.zeros_like({v.name})", f"{v.name}.copy()"]
    forms += [f"np.full({dimensions}, {leaf(w, (), v.dtype)}, np.{v.dtype})", f"np.ones_like({v.name})"]
    forms += ["empty"]
    form = w.choose(forms)
    if form == "empty":
        w.add(f"{name} = np.empty_like({v.name})")
        form = w.choose([f"{name}[...] = {v.name}", f"{name}[:] = {leaf(w, (), v.dtype)}", f"{name}.fill(0)"])
        w.add(form)
    else:
        w.add(f"{name} = {form}")
    w.bind(Variable(name, v.shape, v.dtype))


def choose_array(w: Writer) -> None:
    """Let a condition decide which of two arrays a name means, for reading or for more."""
    if not w.traced:
        raise UnfitError
    v = w.array()
    other = w.choose([x for x in w.like(v.shape, v.dtype) if x is not v])
    name = w.fresh("c")
    w.add(f"{name} = {v.name} if {condition(w)} else {other.name}")
    w.bind(Variable(name, v.shape, v.dtype))


def call_helper(w: Writer) -> None:
    """Call a helper with arrays that fit, and bind what it returns."""
    helper = w.choose(w.helpers)
    given = [w.choose(w.like(p.shape, p.dtype)).name if p.is_array else leaf(w, (), p.dtype) for p in helper.parameters]
    text = f"{helper.name}({', '.join(given)})"
    if helper.result is None:
        w.add(text)
    else:
        bind_view(w, helper.result, text)


def list_of_arrays(w: Writer) -> None:
    """Write into one of several arrays in a tuple, at an index that Python knows."""
    v = w.array(1)
    others = [x.name for x in w.like(v.shape, v.dtype)]
    w.add(f"for each in ({v.name}, {w.choose(others)}):")
    w.add(f"    each[{index(w, v.shape[0])}] = {leaf(w, (), v.dtype)}")


def read_line(w: Writer) -> None:
    """Bind a name to a row or a slice, which is a view, or a copy of it."""
    v = w.array()
    length = v.shape[-1] if w.chance(0.5) else max(2, v.shape[-1] - 1)
    text = line(w, length, v.dtype)
    bind_view(w, Variable("", (length,), v.dtype), text + w.choose(["", ".copy()"]))


def write_whole(w: Writer) -> None:
    v = w.array()
    text = expression(w, v.shape, v.dtype)
    w.add(f"{v.name}[{w.choose([':', '...'])}] = {whole(w, text, v.shape) if w.chance(0.1) else text}")


SIMPLE: dict[str, Callable[[Writer], None]] = {
    "rebind": rebind,
    "bind_new": bind_new,
    "write_slice": write_slice,
    "write_recurrence": write_recurrence,
    "write_element": write_element,
    "write_whole": write_whole,
    "augment": augment,
    "carry_scalar": carry_scalar,
    "take_view": take_view,
    "alias": alias,
    "swap": swap,
    "write_masked": write_masked,
    "call_ufunc": call_ufunc,
    "make_array": make_array,
    "choose_array": choose_array,
    "call_helper": call_helper,
    "list_of_arrays": list_of_arrays,
    "read_line": read_line,
}
