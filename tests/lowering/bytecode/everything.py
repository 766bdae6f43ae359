"""``python -m tests.lowering.bytecode.everything``: every program, in every version, both ways, against jaxlib's own.

The programs are those of the text tests (one of every op at least), one of other dialects, and what the benchmarks
export. The tests in this folder look at a few of them.
"""

import sys
from collections import Counter

from numhlo.lowering.bytecode import read_bytecode, write_artifact
from numhlo.lowering.ir import UNKNOWN, WrittenLocation
from numhlo.lowering.ir.errors import NumhloError
from numhlo.lowering.ir.structure import structurally_equal
from numhlo.lowering.text import parse, print_module
from numhlo.lowering.text.unregistered import is_declaration
from tests.lowering.bytecode.official import CONTAINERS, VERSIONS, artifact, bytecode, exported, text_of
from tests.lowering.text.programs import MODULES

OTHERS = """module @others { sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {"y":(2)2}], replicated={"y":(1)2}>})
    -> (tensor<4x8xf32> {jax.result_info = "r"}) {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<4x8xf32>
  %1 = chlo.erf %0 {note.one, note.two = 3 : i8} : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = "stablehlo.custom_call"(%1) {call_target_name = "foo", note.z = #sdy.sharding<@mesh, [{"x"}, {}]>} :
    (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3:2 = chlo.top_k(%2, k = 2) : tensor<4x8xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  %4 = sdy.manual_computation(%2) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>]
      manual_axes={"x"} (%b: tensor<2x8xf32>) {
    %c = stablehlo.add %b, %b : tensor<2x8xf32>
    sdy.return %c : tensor<2x8xf32> } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = chlo.broadcast_add %4, %4 {broadcast_dimensions = array<i64: 0, 1>} :
    (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %6 = chlo.broadcast_compare %5, %5 {comparison_direction = #chlo<comparison_direction LT>} :
    (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  %7 = stablehlo.add %5, %5 : tensor<4x8xf32> loc(callsite("f"("a.py":8:9) at fused<"m">["b.py":1:2, "g"]))
  func.return %7 : tensor<4x8xf32> }
func.func private @elsewhere(tensor<f32> {note.b}) -> (tensor<i1> {note.d = 1 : i8}) attributes {note.all = [1, 2.5, "s",
  true, {b = 3}, f32, tensor<4xf32>, 1.5 : f16, -1 : i32, dense<[true, false]> : tensor<2xi1>, dense<1> : tensor<2xi4>]}
}"""
"""A program with ops, attributes and locations of the dialects that JAX exports beside StableHLO."""


def places(module):
    """Return the text of every location of a module, written out, in order."""
    known = {}

    def spell(location):
        if location not in known:
            parts = location.parts if isinstance(location, WrittenLocation) else ()
            known[location] = "".join([part if isinstance(part, str) else spell(part) for part in parts])
            known[location] = known[location] or f"{location.filename}:{location.line}:{location.column}"
        return known[location]

    def of(region):
        yield from map(spell, region.argument_locations or [UNKNOWN] * len(region.arguments))
        for op in region.ops:
            yield spell(op.location)
            for inner in op.regions:
                yield from of(inner)
        yield spell(region.return_location)

    for function in module.functions:
        yield spell(function.location)
        yield from () if is_declaration(function) else of(function.body)


def difference(found, expected):
    """Return where a module differs from another one, or nothing: structure, all that text shows, and locations."""
    if not structurally_equal(found, expected):
        return "the structure differs"
    ours, theirs = (print_module(m, generic=True).splitlines() for m in (found, expected))
    where, there = list(places(found)), list(places(expected))
    pairs = [*zip(theirs, ours, strict=False), *zip(there, where, strict=False)]
    return next(
        (f"{a} <> {b}" for a, b in pairs if a != b), "" if len(where) == len(there) else "locations are missing"
    )


def reading(data):
    """Return what is wrong with how bytecode is read, or nothing."""
    try:
        return difference(read_bytecode(data), parse(text_of(data)))
    except NumhloError as error:
        return str(error)


def writing(module, text, version):
    """Return what is wrong with how a module is written for a version, or nothing; ``text`` is its generic form."""
    official = artifact(text, version)
    try:
        data = write_artifact(module, version)
    except NumhloError as error:
        return f"refused: {error}" if official is not None else ""
    if official is None:
        return "jaxlib refuses to write this"
    return difference(parse(text_of(data)), parse(text_of(official)))


def generic(module):
    """Return a module's text with all that bytecode holds, too."""
    return print_module(module, generic=True, locations=True)


def main() -> int:
    """Look at all programs, print what differs, and return whether anything does."""
    counts = Counter()

    def note(kind, name, version, wrong):
        counts[kind] += 1
        if wrong:
            counts["wrong"] += 1
            sys.stdout.write(f"{kind} {name} {version}: {wrong[:500]}\n")

    for name, module in {**MODULES, "others": parse(generic(parse(OTHERS)))}.items():
        text = generic(module)
        for version in VERSIONS:
            data = artifact(text, version)
            note("artifacts read", name, version, "" if data is None else reading(data))
            note("artifacts written", name, version, writing(module, text, version))
        for version in CONTAINERS:
            note("bytecode read", name, version, reading(bytecode(text, version)))
    for name, data in exported():
        note("exports read", name, "", reading(data))
        note("exports written", name, "", writing(read_bytecode(data), text_of(data), "1.17.0"))
    sys.stdout.write(f"{dict(counts)}\n")
    return int(counts["wrong"] > 0)


if __name__ == "__main__":
    sys.exit(main())
