"""The fuzzer of texts: mutants of the tests' programs must be read, or refused with an error of ours, within a second.

``python -m tests.fuzz.texts --minutes 10 --seed 1`` runs for as long as it is told. Batches run in processes of their own,
so that a crash and a hang are found, too; each find is printed once, as the shortest text that shows it.
`test_texts` is its short form.
"""

from __future__ import annotations

import random
import sys
from functools import cache
from pathlib import Path

from numhlo import stablehlo
from numhlo.lowering.ir.errors import NumhloError
from numhlo.lowering.text import print_module
from tests.fuzz.batches import Find, run_command, without_place
from tests.fuzz.mutations import mutated
from tests.lowering.text.programs import MODULES
from tests.lowering.text.rare_programs import LINES
from tests.lowering.text.test_locations import FORMS
from tests.lowering.text.test_parser import SAME, body
from tests.lowering.text.test_producers import OLD, TENSORFLOW, TORCH
from tests.lowering.text.test_shape_forms import SHAPES
from tests.lowering.text.test_shape_forms import program as shape_program

EXPORTS = Path(__file__).parents[1] / "exports"
LONGEST = 2500
"""Characters of the programs that are mutated: small ones, for many mutants a second."""


@cache
def programs() -> tuple[str, ...]:
    """Return the texts that are mutated: each of the tests' small programs, in each of its forms."""
    texts = [FORMS, OLD, TENSORFLOW, TORCH]
    for module in MODULES.values():
        texts += [print_module(module), print_module(module, generic=True), print_module(module, locations=True)]
    texts += [stablehlo.Module(module).as_vhlo_text() for module in list(MODULES.values())[::10]]
    texts += [body(text) for pair in SAME.values() for text in pair]
    texts += [body(line) for line in LINES.values()] + [shape_program(text) for text in SHAPES]
    texts += [path.read_text(encoding="utf-8") for path in sorted(EXPORTS.glob("*/*.mlir"))]
    return tuple(sorted({text for text in texts if len(text) <= LONGEST}))


def outcome(text: str) -> str:
    """Return what becomes of a text: ``"program"``, or why it is refused.

    Raises
    ------
    Find
        If a program is not the same when its text is read again.
    """
    try:
        module = stablehlo.parse(text)
    except NumhloError as error:
        return f"refused: {error}"
    for form in ({}, {"generic": True}, {"locations": True}):
        printed = module.as_text(**form)
        try:
            again = stablehlo.parse(printed).as_text(**form)
        except NumhloError as error:
            raise Find(f"printed text is refused {form}: {without_place(error)}") from error
        if again != printed:
            raise Find(f"printed text is another program {form}")
    try:
        module.verify()
    except NumhloError as error:
        return f"not verified: {error}"
    return "program"


def mutant(seed: int, number: int) -> str:
    """Return the text of a number; the same for the same seed and number."""
    return mutated(random.Random(f"{seed}/{number}"), programs())


if __name__ == "__main__":
    sys.exit(run_command("tests.fuzz.texts", __doc__, mutant, outcome))
