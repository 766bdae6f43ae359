"""Random plain NumPy programs: loops in loops, branches, helpers that write, results that alias.

`program` writes one for a seed. A program is text: NumPy runs it as it is, and numhlo traces the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from tests.every_call.source_expressions import condition, expression, leaf
from tests.every_call.source_idioms import IDIOMS
from tests.every_call.source_statements import SIMPLE
from tests.every_call.source_writer import Helper, UnfitError, Variable, Writer

MOST_ITERATIONS = 700
"""How often the innermost body of a program runs at most: what is not kept as a loop is traced so many times."""

MOST_DEPTH = 3
"""Of blocks, the function's own being one."""

LONG_LOOPS = (61, 90, 91, 120, 121, 121, 301)
"""Trip counts of loops that are kept as loops; odd ones, too, as two buffers may be exchanged at each iteration."""

LONG_LOOPS_OF_BRANCHES = (17, 24, 30, 31, 40, 41, 61)
"""Trip counts where bodies have branches and loops on values: they are kept as loops earlier, and are longer to trace."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a program: an array of a shape and dtype, or a number of steps."""

    name: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def is_steps(self) -> bool:
        return self.dtype == "steps"


@dataclass(frozen=True)
class Source:
    """A program.

    Attributes
    ----------
    text : str
        A module with the function ``program``.
    parameters : tuple of Parameter
    seed : int
        Of the program and its arguments.
    autograph : bool
        The option of `numhlo.jit`.
    static : bool
        Whether numbers of steps are static arguments.
    """

    text: str
    parameters: tuple[Parameter, ...]
    seed: int
    autograph: bool | None
    static: bool


def program(seed: int, without: Sequence[str] = ()) -> Source:
    """Return the program of a seed, without statements of some kinds."""
    random = Random(seed)
    autograph = True if random.random() < 0.4 else None
    w = Writer(random, traced=random.random() < 0.6, most_statements=random.randint(5, 22))
    w.without = frozenset(without)
    parameters = draw_parameters(w)
    static = w.chance(0.5)
    steps = [p for p in parameters if p.is_steps]
    w.lines = ["import numpy as np", "", ""]
    w.add(f"def program({', '.join(p.name for p in parameters)}):")
    w.depth = 1
    for p in parameters:
        if not p.is_steps:
            w.bind(Variable(p.name, p.shape, p.dtype))
    setup(w)
    for _ in range(w.choose([0, 0, 1, 1, 2])):
        attempt(w, write_helper)
    if w.chance(0.3):  # of returns in several places, which must have one structure
        w.returned = w.random.choices(w.arrays(), k=w.between(1, 2))
    if steps and (not attempt(w, lambda w: loop_of_steps(w, steps[0].name))):
        w.add(f"s1 = 0.1 * {steps[0].name}")
    statements(w, 2, 6)
    if w.chance(0.9) and not any("for " in line for line in w.lines):
        attempt(w, for_loop)
    write_return(w)
    return Source("\n".join(w.lines) + "\n", tuple(parameters), seed, autograph, static)


def draw_parameters(w: Writer) -> list[Parameter]:
    n, m = w.between(4, 9), w.between(3, 6)
    if w.chance(0.2):
        m = n
    dtype = w.choose(["float64", "float64", "float64", "float32"])
    found: list[Parameter] = []
    for name in "ab"[: w.choose([1, 2, 2])]:
        found.append(Parameter(name, (n,), dtype))
    for name in "pq"[: w.choose([0, 0, 1, 1, 2])]:
        found.append(Parameter(name, (m, n), dtype))
    if w.chance(0.2):
        found.append(Parameter("k", (n,), "int64"))
    if w.chance(0.1):
        found.append(Parameter("c", (n,), "float64" if dtype == "float32" else "float32"))
    if w.chance(0.3):
        found.append(Parameter("steps", (), "steps"))
    return found


def setup(w: Writer) -> None:
    """Write work arrays, views and scalars that the program starts with."""
    for kind in ("make_array", "take_view", "alias", "read_line"):
        while w.chance(0.3 if kind != "make_array" else 0.5):
            attempt(w, SIMPLE[kind])
    if w.chance(0.5):
        name = w.fresh("s")
        w.add(f"{name} = {w.choose(['0.0', w.number(), 'a[0]', 'a.mean()'])}")
        w.bind(Variable(name, (), "float64"))
    if w.chance(0.25):
        name = w.fresh("j")
        w.add(f"{name} = {w.choose(['0', '1', 'int(3)'])}")
        w.bind(Variable(name, (), "int64"))


def attempt(w: Writer, maker: Callable[[Writer], object]) -> bool:
    """Write what a maker writes, or nothing where it does not fit; return whether it did."""
    lines, variables, depth = len(w.lines), w.variables.copy(), w.depth
    iterations, loops, helpers = w.iterations, w.loops, len(w.helpers)
    try:
        maker(w)
    except UnfitError:
        del w.lines[lines:], w.helpers[helpers:]
        w.variables, w.depth, w.iterations, w.loops = variables, depth, iterations, loops
        return False
    return True


def statement(w: Writer) -> None:
    """Write a statement of a kind that is drawn."""
    w.statements += 1
    blocks = BLOCKS if w.statements < w.most_statements and w.depth <= MOST_DEPTH else {}
    kinds = {**SIMPLE, **IDIOMS, **blocks}
    names = [name for name in kinds if name not in w.without]
    weights = [w.weight(name) * (BLOCK_WEIGHT if name in BLOCKS else 1) + 0.02 for name in names]
    for _ in range(20):
        if attempt(w, kinds[w.random.choices(names, weights)[0]]):
            return
    w.add("pass")


def statements(w: Writer, least: int, most: int) -> None:
    for k in range(w.between(least, most)):
        if k == 0 or w.statements < w.most_statements:
            statement(w)


def for_loop(w: Writer) -> None:
    """Write a loop over a known range: short, along an axis, there or back, or long."""
    v = w.array()
    n = w.choose(v.shape)
    name = w.fresh("i")
    options = [(f"range({n})", 0, n - 1), (f"range(1, {n})", 1, n - 1), (f"range({n} - 2, -1, -1)", 0, n - 2)]
    options += [(f"range(1, {n} - 1)", 1, n - 2), (f"range({n - 1}, 0, -1)", 1, n - 1), ("range(3)", 0, 2)]
    options += [(f"reversed(range({n}))", 0, n - 1)]
    options = [x for x in options if x[1] <= x[2]]
    long = LONG_LOOPS_OF_BRANCHES if w.traced else LONG_LOOPS
    if w.loops == 0 or w.chance(0.1):
        options += [(f"range({count})", 0, count - 1) for count in long] * 2
    text, least, most = w.choose(options)
    if w.iterations * (most - least + 1) > MOST_ITERATIONS or w.loops > 2:
        raise UnfitError
    loop_body(w, f"for {name} in {text}:", Variable(name, (), "int64", False, (least, most)), most - least + 1)


def loop_of_steps(w: Writer, steps: str) -> None:
    """Write a loop whose trip count is an argument."""
    name = w.fresh("i")
    loop_body(w, f"for {name} in range({steps}):", Variable(name, (), "int64", False, (0, 100)), 100, may_be_empty=True)


def loop_over_rows(w: Writer) -> None:
    """Write a loop over the rows of a plate, which are views."""
    v = w.array(2)
    rows, columns = v.shape
    row, name = w.fresh("r"), w.fresh("i")
    index = Variable(name, (), "int64", False, (0, rows - 1))
    if w.iterations * rows > MOST_ITERATIONS or w.loops > 2:
        raise UnfitError
    view = Variable(row, (columns,), v.dtype, False)
    loop_body(w, f"for {name}, {row} in enumerate({v.name}):", index, rows, view)


def loop_over_pairs(w: Writer) -> None:
    """Write a loop over the rows of two plates, or over the elements of two lines."""
    v = w.array()
    other = w.choose(w.like(v.shape, v.dtype))
    one, two, name = w.fresh("r"), w.fresh("r"), w.fresh("i")
    index = Variable(name, (), "int64", False, (0, v.shape[0] - 1))
    if w.iterations * v.shape[0] > MOST_ITERATIONS or w.loops > 2:
        raise UnfitError
    views = [Variable(x, v.shape[1:], v.dtype, False) for x in (one, two)]
    head = f"for {name}, ({one}, {two}) in enumerate(zip({v.name}, {other.name})):"
    loop_body(w, head, index, v.shape[0], *views)


def loop_body(w: Writer, head: str, index: Variable, times: int, *extra: Variable, may_be_empty: bool = False) -> None:
    leaves = w.traced and w.chance(0.2)
    local = leaves or may_be_empty or "escaping_name" in w.without
    w.add(head)
    with w.repeated(times), w.block(keep=not local):
        for v in (index, *extra):
            w.bind(v)
        statements(w, 1, 4)
        if leaves:
            w.add(f"if {condition(w)}:")
            w.add(f"    {w.choose(['break', 'continue'])}")
            statements(w, 1, 2)
    w.variables = [v for v in w.variables if v.name != index.name and v not in extra]


def while_loop(w: Writer) -> None:
    """Write a loop that ends when a value falls below a bound, and after so many iterations in any case."""
    count = w.choose([3, 5, 20, 41, 120])
    name = w.fresh("j")
    if w.iterations * count > MOST_ITERATIONS or w.loops > 1:
        raise UnfitError
    test = f" and {condition(w)}" if w.traced and w.chance(0.6) else ""
    w.add(f"{name} = 0")
    w.add(f"while {name} < {count}{test}:")
    counter = Variable(name, (), "int64", False, (0, count - 1))
    with w.repeated(count), w.block(keep=False):
        w.bind(counter)
        statements(w, 1, 4)
        w.add(f"{name} += 1")


def branch(w: Writer) -> None:
    """Write an `if` on values, or on a loop's index."""
    indices = w.indices()
    if indices and w.chance(0.3):
        test = f"{w.choose(indices).name} % {w.choose([2, 3])} == {w.between(0, 1)}"
    elif w.traced:
        test = condition(w)
    else:
        raise UnfitError
    w.add(f"if {test}:")
    with w.block(keep=False):
        statements(w, 1, 2)
    if w.chance(0.4):
        w.add("else:")
        with w.block(keep=False):
            statements(w, 1, 2)


def early_return(w: Writer) -> None:
    """Write a return of as many values of the same types as at the end, if a condition holds."""
    if not w.traced or w.in_helper or w.chance(0.5):
        raise UnfitError
    if not w.returned:
        raise UnfitError
    if w.loops and w.chance(0.5):
        raise UnfitError
    w.add(f"if {condition(w)}:")
    w.add(f"    return {', '.join(w.choose(w.like(v.shape, v.dtype)).name for v in w.returned)}")


def write_helper(w: Writer) -> None:
    """Write a function inside the program that changes its arguments or what is around it."""
    kinds = [w.array() for _ in range(w.choose([1, 1, 2]))]
    parameters = [Variable(name, v.shape, v.dtype) for name, v in zip("uv", kinds, strict=False)]
    if w.chance(0.4):
        parameters.append(Variable("z", (), parameters[0].dtype))
    name = w.fresh("helper_")
    w.add(f"def {name}({', '.join(p.name for p in parameters)}):")
    outer = w.variables
    with w.block(keep=False):
        closed = [Variable(v.name, v.shape, v.dtype, False) for v in outer if v.is_array] if w.chance(0.4) else []
        w.variables = [*closed, *parameters]
        w.in_helper, before = True, w.in_helper
        with w.repeated(20):
            statements(w, 1, 3)
        w.in_helper = before
        result = None
        if w.chance(0.7):
            result = w.choose([v for v in w.variables if v.is_array])
            w.add(f"return {result.name}")
    w.helpers.append(Helper(name, tuple(parameters), result))


def write_return(w: Writer) -> None:
    """Return several values: arrays, views, arguments, the same twice, scalars, expressions."""
    if w.returned:
        w.add(f"return {', '.join(w.choose(w.like(v.shape, v.dtype)).name for v in w.returned)}")
        return
    arrays = [v.name for v in w.arrays()]
    w.random.shuffle(arrays)
    found = arrays[: w.between(1, 4)]
    found += [v.name for v in w.variables if not v.is_array and v.bounds is None][:2]
    if w.chance(0.2):
        found.append(w.choose(found))
    if w.chance(0.2):
        v = w.array()
        found.append(f"{v.name}[1:]")
    if w.chance(0.3):
        v = w.array()
        found.append(expression(w, v.shape, v.dtype, 1))
    if w.chance(0.1):
        w.add(f"{w.array(1).name}[0] = {leaf(w, (), w.array(1).dtype)}")
    w.add("return " + ", ".join(found))


BLOCKS: dict[str, Callable[[Writer], None]] = {
    "for_loop": for_loop,
    "loop_over_rows": loop_over_rows,
    "loop_over_pairs": loop_over_pairs,
    "while_loop": while_loop,
    "branch": branch,
    "early_return": early_return,
}

WAYS = ("rebound_view", "escaping_name")
"""What can be left out beside kinds of statements: old names for views, and names from a loop's body after the loop."""

KINDS = (*SIMPLE, *IDIOMS, *BLOCKS, *WAYS)

BLOCK_WEIGHT = 1.5
