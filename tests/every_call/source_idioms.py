"""Random statements of idioms: elements and rows exchanged, lists and dicts of arrays, indices in arrays, windows."""

from __future__ import annotations

from collections.abc import Callable

from tests.every_call.source_expressions import element, expression, index, leaf, rebinding
from tests.every_call.source_writer import FLOATS, UnfitError, Variable, Writer


def swap_elements(w: Writer) -> None:
    """Exchange two elements, or two rows by an index of both."""
    v = w.array()
    n = v.shape[0]
    if len(v.shape) == 2 and w.chance(0.6):
        first, second = w.between(0, n - 1), w.between(0, n - 1)
        w.add(f"{v.name}[[{first}, {second}]] = {v.name}[[{second}, {first}]]")
        return
    one, other = element(w, v), element(w, v)
    w.add(f"{one}, {other} = {other}, {one}")


def sort_step(w: Writer) -> None:
    """Exchange neighbours that are not in order, as a bubble sort does."""
    if not w.traced:
        raise UnfitError
    v, i = w.array(1), w.choose(w.indices())
    least, most = i.bounds or (0, 0)
    if least < 0 or most + 1 >= v.shape[0]:
        raise UnfitError
    here, there = f"{v.name}[{i.name}]", f"{v.name}[{i.name} + 1]"
    w.add(f"if {here} > {there}:")
    w.add(f"    {here}, {there} = {there}, {here}")


def write_window(w: Writer) -> None:
    """Write or read a slice whose length depends on the index of a loop."""
    v, i = w.array(1), w.choose(w.indices())
    least, most = i.bounds or (0, 0)
    if v.dtype not in FLOATS or least < 0 or most >= v.shape[0]:
        raise UnfitError
    forms = [f"{v.name}[{i.name}:] *= {w.number(0.5, 0.9)}", f"{v.name}[:{i.name} + 1] = {leaf(w, (), v.dtype)}"]
    forms.append(f"{v.name}[0] = {v.name}[{i.name}:].mean()")
    forms.append(f"{v.name}[{i.name}] = 0.5 * {v.name}[:{i.name} + 1].max()")
    w.add(w.choose(forms))


def write_by_indices(w: Writer) -> None:
    """Write elements whose indices are in a list or an array, some of them twice."""
    v = w.array(1)
    n = v.shape[0]
    integers = w.arrays(1, "int64")
    if integers and w.chance(0.7):
        k = w.choose(integers)
        w.add(f"{v.name}[{k.name} % {n}] = {expression(w, k.shape, v.dtype, 1)}")
    else:
        places = [w.between(0, n - 1) for _ in range(3)]
        w.add(f"{v.name}[{places}] {w.choose(['=', '*=']) if v.dtype in FLOATS else '='} {leaf(w, (), v.dtype)}")


def read_by_indices(w: Writer) -> None:
    """Bind a name to elements at indices, which are a copy."""
    v = w.array(1)
    places = [w.between(0, v.shape[0] - 1) for _ in range(w.between(2, 4))]
    name = w.fresh("t")
    w.add(f"{name} = {v.name}[{places}]")
    w.bind(Variable(name, (len(places),), v.dtype))


def bind_two(w: Writer) -> None:
    """Bind two names to one new array."""
    v = w.array()
    one, other = w.fresh("t"), w.fresh("t")
    w.add(f"{one} = {other} = {rebinding(w, v.shape, v.dtype)}")
    w.bind(Variable(one, v.shape, v.dtype))
    w.bind(Variable(other, v.shape, v.dtype))


def list_of_views(w: Writer) -> None:
    """Put arrays and views into a list, and write through what is taken out of it."""
    v = w.array(1)
    same = [x.name for x in w.like(v.shape, v.dtype)]
    name, taken = w.fresh("l"), w.fresh("v")
    w.add(f"{name} = [{w.choose(same)}, {v.name}[:], {v.name}.copy()]")
    if w.chance(0.4):
        w.add(f"{name}.append({w.choose(same)})")
    if w.chance(0.3):
        w.add(f"{name}[0], {name}[1] = {name}[1], {name}[0]")
    w.add(f"{name}[{w.between(0, 2)}][{index(w, v.shape[0])}] = {leaf(w, (), v.dtype)}")
    w.add(f"{taken} = {name}[{w.choose(['0', '1', '-1'])}]")
    w.bind(Variable(taken, v.shape, v.dtype))


def dict_of_arrays(w: Writer) -> None:
    """Keep arrays in a dict through a short or long loop that writes them and puts others in their places."""
    v = w.array()
    same = [x.name for x in w.like(v.shape, v.dtype)]
    name, taken = w.fresh("d"), w.fresh("v")
    w.add(f"{name} = {{'x': {w.choose(same)}, 'y': {w.choose(same)}}}")
    w.add(f"for _ in range({w.choose([2, 3, 40, 121]) if w.loops == 0 else 2}):")
    line = [f"{name}['x'][0] = {name}['y'][-1]", f"{name}['x'] = 0.5 * {name}['x'] + 0.3 * {name}['y']"]
    line += [f"{name}['x'], {name}['y'] = {name}['y'], {name}['x']", f"{name}['y'][...] = 0.5 * {name}['x']"]
    if v.dtype not in FLOATS:
        line = [line[0], line[2]]
    for text in w.random.sample(line, w.between(1, 2)):
        w.add("    " + text)
    w.add(f"{taken} = {name}['{w.choose('xy')}']")
    w.bind(Variable(taken, v.shape, v.dtype))


def write_outer(w: Writer) -> None:
    """Write an outer product, or a broadcast line, into a plate."""
    v = w.choose([v for v in w.arrays(2) if v.dtype in FLOATS])
    rows, columns = v.shape
    a, b = expression(w, (rows,), v.dtype, 1), expression(w, (columns,), v.dtype, 1)
    forms = [f"np.outer({a}, {b})", f"({a})[:, None] * 0.5 + 0.4 * ({b})", f"np.broadcast_to({b}, {v.shape})"]
    columns_of = w.like((rows,), v.dtype)
    forms = forms if columns_of else forms[:1] + forms[2:]
    text = w.choose(forms)
    if "[:, None]" in text:
        text = f"{w.choose(columns_of).name}[:, None] * 0.5 + 0.4 * ({b})"
    w.add(f"{v.name}[...] = {text}")


def loop_until(w: Writer) -> None:
    """Write a `while True` that is left after some iterations, or by a condition on values."""
    v, counter = w.array(1), w.fresh("j")
    if v.dtype not in FLOATS or w.loops:  # tracing tries to count the iterations of each
        raise UnfitError
    count = w.choose([3, 7, 40, 41])
    test = f" or {v.name}.max() < {w.number(0.0, 0.3)}" if w.traced and w.chance(0.7) else ""
    w.add(f"{counter} = 0")
    w.add("while True:")
    w.add(f"    {v.name}[{counter} % {v.shape[0]}] *= {w.number(0.3, 0.8)}")
    w.add(f"    {counter} += 1")
    w.add(f"    if {counter} >= {count}{test}:")
    w.add("        break")
    if w.chance(0.5):
        w.add(f"    {v.name}[1:] = 0.5 * {v.name}[:-1] + 0.3 * {v.name}[1:]")


IDIOMS: dict[str, Callable[[Writer], None]] = {
    "swap_elements": swap_elements,
    "sort_step": sort_step,
    "write_window": write_window,
    "write_by_indices": write_by_indices,
    "read_by_indices": read_by_indices,
    "bind_two": bind_two,
    "list_of_views": list_of_views,
    "dict_of_arrays": dict_of_arrays,
    "write_outer": write_outer,
    "loop_until": loop_until,
}
