"""Random programs on grids of threads, against the interpreter: ``python -m tests.backend.communication.random_grids``.

Now and then one process runs a program that fails, or that leaves all collectives out: the run must end with an error,
or without one where nobody waits for it, and the next one must be right.
"""

import argparse
import faulthandler
import random
import sys
import time

from numhlo.distributed import ProcessGrid
from numhlo.lowering.ir.errors import CommunicationError, UnsupportedError
from numhlo.stablehlo import Module, parse
from tests.backend.communication.programs import arrays_of, reducer, same_bits

SIZES = (8, 8, 8, 300_000)
"""Elements: of collectives that one process does for all, and of those that all have a share in."""
FAILS = "%y = stablehlo.custom_call @nobody_knows_this(%x) {has_side_effect = true} : (tensor<8xf32>) -> tensor<8xf32>"
OTHERS = [
    f"func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {{\n  {line}\n  return {result} : tensor<8xf32>\n}}"
    for line, result in ((FAILS, "%y"), ("", "%x"))
]
HANG_SECONDS = 120


def random_program(rng: random.Random, count: int, size: int) -> Module:
    """Return a program of some collectives, with products in between."""
    box, wide = f"tensor<{size}xf32>", f"tensor<{size * count}xf32>"
    lines, last = [], "%x"
    for k in range(rng.randint(1, 6)):
        match rng.choice(["all_reduce", "permute", "all_gather", "multiply"]):
            case "all_reduce":
                ids = rng.sample(range(count), count)
                half = count // 2 if count % 2 == 0 and rng.random() < 0.5 else count
                rows = [ids[start : start + half] for start in range(0, count, half)]
                groups = f"replica_groups = dense<{rows}> : tensor<{len(rows)}x{half}xi64>"
                lines.append(
                    f'%v{k} = "stablehlo.all_reduce"({last}) <{{{groups}}}> {reducer("add", "f32")} : ({box}) -> {box}'
                )
            case "permute":
                step = rng.randint(1, count)
                pairs = [[i, (i + step) % count] for i in range(count) if rng.random() < 0.8] or [[0, 0]]
                targets = f"source_target_pairs = dense<{pairs}> : tensor<{len(pairs)}x2xi64>"
                lines.append(f'%v{k} = "stablehlo.collective_permute"({last}) <{{{targets}}}> : ({box}) -> {box}')
            case "all_gather":
                groups = f"replica_groups = dense<{[[*range(count)]]}> : tensor<1x{count}xi64>"
                attributes = f"all_gather_dim = 0 : i64, {groups}"
                lines.append(f'%g{k} = "stablehlo.all_gather"({last}) <{{{attributes}}}> : ({box}) -> {wide}')
                start = size * rng.randrange(count)
                lines.append(f"%v{k} = stablehlo.slice %g{k} [{start}:{start + size}] : ({wide}) -> {box}")
            case _:
                lines.append(f"%v{k} = stablehlo.multiply {last}, {last} : {box}")
        last = f"%v{k}"
    body = "\n  ".join(lines)
    return parse(f"func.func @main(%x: {box}) -> {box} {{\n  {body}\n  return {last} : {box}\n}}")


def check(seed: int) -> None:
    """Run one program, and perhaps let a process of it fail."""
    rng = random.Random(seed)
    count, size = rng.randint(1, 4), rng.choice(SIZES)
    module, grid = random_program(rng, count, size), ProcessGrid(count)
    function, arguments = module.callable(), [(x,) for x in arrays_of("f32", count, (size,), seed)]
    expected = grid.run(function, arguments, interpret=True)
    for call in range(3):
        if call == 2 and size == 8 and count > 1:
            programs = [function] * count
            programs[rng.randrange(count)] = parse(rng.choice(OTHERS)).callable()
            try:
                grid.run(programs, arguments)
            except (CommunicationError, UnsupportedError) as error:
                assert "in process" in error.__notes__[-1]
        found = grid.run(function, arguments)
        assert all(same_bits(*pair) for pair in zip(found, expected, strict=True)), f"{seed}:\n{module.as_text()}"


def main() -> None:
    """Check programs for some time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    end, seed = time.monotonic() + given.seconds, given.seed
    while time.monotonic() < end:
        faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
        check(seed)
        seed += 1
    faulthandler.cancel_dump_traceback_later()
    sys.stdout.write(f"{seed - given.seed} programs, no faults\n")


if __name__ == "__main__":
    main()
