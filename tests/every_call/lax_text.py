"""The Python text of a lax program: a function of its own, or a whole script that checks every call."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.every_call.lax_syntax import Body, Literal, Program, Statement, Type

INDENT = "    "

HEADER = """\
import numpy as np
import numhlo
import numhlo.numpy as hnp
from numhlo import lax
"""

INPUTS = """\
def array(rng, dtype, shape):
    match np.dtype(dtype).kind:
        case "b":
            return np.asarray(rng.random(shape) < 0.5)
        case "i" | "u":
            return np.asarray(rng.integers(0, 9, shape)).astype(dtype)
        case "c":
            return np.asarray(rng.uniform(-0.7, 0.7, shape) + 1j * rng.uniform(-0.7, 0.7, shape)).astype(dtype)
    return np.asarray(rng.uniform(-1, 1, shape)).astype(dtype)


def make_inputs(seed, types):
    counts = [(1, 2, 3), (2, 3, 0), (3, 1, 2)]
    made = []
    for number, own in enumerate(counts):
        rng, left = np.random.default_rng([seed, number]), list(own)
        made.append([np.int32(left.pop(0)) if t == "count" else array(rng, *t) for t in types])
    return made
"""

CHECK = """
inputs = make_inputs({seed}, {types})
graph = numhlo.jit(lambda *arguments: program(*arguments))
with numhlo.debugging(engine="interpreter"):
    expected = [[np.array(x) for x in graph(*arguments)] for arguments in inputs]
compiled, given, wrong = numhlo.jit(program, donate_argnums={donated}), [], []
for call, which in enumerate([0, 1, 0, 0, 1, 2, 0, 2, 1, 0]):
    if call == 2:
        compiled.wait()
    given.append(([x.copy() for x in inputs[which]], inputs[which]))
    found = compiled(*given[-1][0])
    for k, (x, y) in enumerate(zip(found, expected[which], strict=True)):
        if not np.allclose(np.asarray(x, np.complex128), np.asarray(y, np.complex128), 1e-2, 1e-2, equal_nan=True):
            wrong.append(f"call {{call}}, input {{which}}, result {{k}}: {{x}} instead of {{y}}")
    pairs = [pair for both in given for k, pair in enumerate(zip(*both, strict=True)) if k not in {donated}]
    if not all(np.array_equal(x, y) for x, y in pairs):
        wrong.append(f"call {{call}} has written into an argument")
print("\\n".join(wrong[:3]) or "right on every call")
assert not wrong
"""


def function_text(program: Program, name: str = "program") -> str:
    """Return the program as the text of one Python function."""
    lines = [f"def {name}({', '.join(map(str, program.body.parameters))}):", *_inside(program.body)]
    return "\n".join(lines) + "\n"


def module_text(program: Program) -> str:
    """Return the text of a module that defines the program."""
    return f"{HEADER}\n\n{function_text(program)}"


def script_text(program: Program, title: str) -> str:
    """Return a whole script that makes inputs, calls the program often, and fails where a call is wrong."""
    types = ", ".join(
        '"count"' if "count" in p.name else f'("{p.type.dtype}", {p.type.shape})' for p in _arguments(program)
    )
    check = CHECK.format(seed=program.seed, types=f"[{types}]", donated=program.donated_numbers)
    title = " ".join(title.split())[:140]
    return f'"""{title}"""\n{HEADER}\n\n{INPUTS}\n\n{function_text(program)}\n{check}'


def _arguments(program: Program) -> Sequence:
    return program.body.parameters


def _inside(body: Body) -> list[str]:
    lines = [line for statement in body.statements for line in _lines(statement)]
    lines.append(f"return {_tuple(body.results)}")
    return [INDENT + line for line in lines]


def _lines(statement: Statement) -> list[str]:
    if statement.kind == "value":
        value = statement.template.format(*statement.operands)
        return [f"{', '.join(map(str, statement.targets))} = {value}"]
    return WRITERS[statement.kind](statement)


def _tuple(items: Sequence) -> str:
    return f"({', '.join(map(str, items))}{',' if len(items) == 1 else ''})"


def _definition(body: Body, parameters: str, first: Sequence[str] = (), result: str | None = None) -> list[str]:
    lines = _inside(body)
    if result is not None:
        lines[-1] = f"{INDENT}return {result}"
    return [f"def {body.name}({parameters}):", *[INDENT + line for line in first], *lines]


def _target(statement: Statement) -> str:
    return ", ".join(map(str, statement.targets)) + ("," if len(statement.targets) == 1 else "")


def _unpacked(items: Sequence, source: str) -> list[str]:
    return [f"{_tuple(items)} = {source}"] if items else []


def _fori(s: Statement) -> list[str]:
    body, upper, start = s.bodies[0], s.operands[0], s.operands[1:]
    index, *carries = body.parameters
    first = [f"{index} = lax.convert_element_type(i, np.int64)", *_unpacked(carries, "c")]
    unroll = f", unroll={s.options['unroll']}" if s.options.get("unroll") else ""
    lower = s.options.get("lower", "0")
    call = f"lax.fori_loop({lower}, {upper}, {body.name}, {_tuple(start)}{unroll})"
    return [*_definition(body, "i, c", first), f"{_target(s)} = {call}"]


def _while(s: Statement) -> list[str]:
    body, upper, start = s.bodies[0], s.operands[0], s.operands[1:]
    index, *carries = body.parameters
    first = [f"{index} = lax.convert_element_type(c[0], np.int64)", *_unpacked(carries, "c[1:]")]
    tested = s.options.get("tested")
    more = "" if tested is None else f" & (hnp.max(c[{tested + 1}]) < 0.97)"
    state = _tuple(["np.int32(0)", *start])
    result = _tuple(["c[0] + 1", *body.results])
    call = f"lax.while_loop(lambda c: (c[0] < {upper}){more}, {body.name}, {state})[1:]"
    return [*_definition(body, "c", first, result), f"{_target(s)} = {call}"]


def _scan(s: Statement) -> list[str]:
    body, count = s.bodies[0], s.options["carries"]
    carries, elements = body.parameters[:count], body.parameters[count:]
    first = [*_unpacked(carries, "c"), *_unpacked(elements, "x")]
    result = f"{_tuple(body.results[:count])}, {_tuple(body.results[count:])}"
    start, xs = s.operands[:count], s.operands[count:]
    more = f", length={s.options['length']}, reverse={s.options['reverse']}, unroll={s.options.get('unroll', 1)}"
    call = f"lax.scan({body.name}, {_tuple(start)}, {_tuple(xs) if xs else None}{more})"
    both = f"{_tuple(s.targets[:count])}, {_tuple(s.targets[count:])}"
    return [*_definition(body, "c, x", first, result), f"{both} = {call}"]


def _branches(s: Statement) -> list[str]:
    lines = [line for b in s.bodies for line in _definition(b, ", ".join(map(str, b.parameters)))]
    chosen, *passed = map(str, s.operands)
    names = [b.name for b in s.bodies]
    if s.kind == "cond":
        head = f"lax.cond({chosen}, {', '.join(names)}"
    else:
        head = f"lax.switch({chosen}, {_tuple(names)}"
    return [*lines, f"{_target(s)} = {', '.join([head, *passed])})"]


def _map(s: Statement) -> list[str]:
    body = s.bodies[0]
    lines = _definition(body, "x", _unpacked(body.parameters, "x"))
    return [*lines, f"{_target(s)} = lax.map({body.name}, {_tuple(s.operands)})"]


def _plain_definition(s: Statement, result: str | None = None) -> list[str]:
    return _definition(s.bodies[0], ", ".join(map(str, s.bodies[0].parameters)), result=result)


def _vmap(s: Statement) -> list[str]:
    call = f"numhlo.vmap({s.bodies[0].name}, in_axes={s.options['axes']})"
    return [*_plain_definition(s), f"{_target(s)} = {call}({', '.join(map(str, s.operands))})"]


def _grad(s: Statement) -> list[str]:
    body = s.bodies[0]
    numbers = tuple(range(len(s.operands)))
    call = f"numhlo.grad({body.name}, argnums={numbers})({', '.join(map(str, s.operands))})"
    return [*_plain_definition(s, str(body.results[0])), f"{_target(s)} = {call}"]


def _jvp(s: Statement) -> list[str]:
    body, count = s.bodies[0], len(s.bodies[0].parameters)
    both = f"{_tuple(s.operands[:count])}, {_tuple(s.operands[count:])}"
    half = len(s.targets) // 2
    targets = f"{_tuple(s.targets[:half])}, {_tuple(s.targets[half:])}"
    return [*_plain_definition(s), f"{targets} = numhlo.jvp({body.name}, {both})"]


def _custom_jvp(s: Statement) -> list[str]:
    name, (result,) = s.bodies[0].name, s.bodies[0].results
    rule = f"{name}.defjvp(lambda p, t: ({name}(*p), t[0] * {s.options['factor']}))"
    arguments = ", ".join(map(str, s.operands))
    lines = ["@numhlo.custom_jvp", *_plain_definition(s, str(result)), rule]
    return [*lines, f"{s.targets[0]} = {name}({arguments})"]


def _custom_vjp(s: Statement) -> list[str]:
    name, (result,) = s.bodies[0].name, s.bodies[0].results
    others = "".join([", None"] * (len(s.operands) - 1))
    forward = f"lambda *a: ({name}(*a), a[0])"
    backward = f"lambda kept, g: (g * {s.options['factor']} * hnp.cos(kept){others},)"
    rule = f"{name}.defvjp({forward}, {backward})"
    arguments = ", ".join(map(str, s.operands))
    lines = ["@numhlo.custom_vjp", *_plain_definition(s, str(result)), rule]
    return [*lines, f"{s.targets[0]} = {name}({arguments})"]


WRITERS: dict[str, Callable[[Statement], list[str]]] = {
    "fori": _fori,
    "while": _while,
    "scan": _scan,
    "cond": _branches,
    "switch": _branches,
    "map": _map,
    "vmap": _vmap,
    "grad": _grad,
    "jvp": _jvp,
    "custom_jvp": _custom_jvp,
    "custom_vjp": _custom_vjp,
}
"""How statements with bodies are written, by kind."""


def literal(type: Type, value: float = 0.25) -> Literal:
    """Return a constant of a type: numbers from -0.5 to 0.5, small integers, or True at every third position.

    Parameters
    ----------
    type : Type
    value : float, optional
        What scalars are.
    """
    dtype = "np.bool_" if type.dtype == "bool" else f"np.{type.dtype}"
    kind = type.dtype[0]
    if not type.shape:
        shown = {"i": str(round(value * 4)), "u": str(abs(round(value * 4))), "b": str(value > 0)}.get(kind, str(value))
        return Literal(f"{dtype}({shown})", type._replace(exact=True))
    table = {
        "i": f"np.arange({type.size}) % 7",
        "u": f"np.arange({type.size}) % 7",
        "b": f"np.arange({type.size}) % 3 == 0",
    }
    text = table.get(kind, f"np.linspace(-0.5, 0.5, {type.size})")
    return Literal(f"({text}).reshape({type.shape}).astype({dtype})", type._replace(exact=True))
