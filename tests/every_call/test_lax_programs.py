"""Random lax programs: a slice of what `python -m tests.every_call.lax` runs for as long as you let it."""

import itertools

import numpy as np
import pytest

from numhlo.lowering.ir.errors import UnsupportedError
from tests.every_call.lax_programs import build, make_inputs, make_program
from tests.every_call.lax_reducing import reduce_program, tidy
from tests.every_call.lax_syntax import CARRYING, statements_in
from tests.every_call.lax_text import WRITERS, function_text, script_text
from tests.every_call.lax_tiers import TIERS, LeftOut, reference, traced


def check(seeds, tier):
    """Check programs; return how many took part."""
    count = 0
    for seed in seeds:
        program = make_program(seed)
        try:
            TIERS[tier](program)
        except (LeftOut, UnsupportedError):
            continue
        except Exception as error:
            error.add_note(script_text(program, f"seed {seed}, {tier}"))
            raise
        count += 1
    return count


@pytest.mark.slow
@pytest.mark.parametrize("part", range(3))
def test_first_answers(part):
    assert check(range(50 * part, 50 * part + 50), "first") > 40


@pytest.mark.slow
def test_text_of_kernels_call_after_call():
    assert check(range(1000, 1040), "text") > 25


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_machine_code(part):
    assert check(range(2000 + 5 * part, 2005 + 5 * part), "native") >= 4


def test_seeds_make_the_same_programs_and_inputs_again():
    for seed in range(20):
        assert function_text(make_program(seed)) == function_text(make_program(seed))
        for one, other in zip(make_inputs(make_program(seed)), make_inputs(make_program(seed)), strict=True):
            for x, y in zip(one, other, strict=True):
                np.testing.assert_array_equal(x, y, strict=True)


def test_all_that_can_be_written_is():
    seen = set(itertools.chain.from_iterable([s.kind for s in statements_in(make_program(k).body)] for k in range(120)))
    assert seen == {"value", *WRITERS}


def test_programs_are_what_their_types_say():
    """Shapes, dtypes, and numbers that stay near 1, so that errors stay small."""
    for seed in range(30):
        program = make_program(seed)
        arguments = make_inputs(program)[0]
        results = reference(traced(build(program), arguments))(*arguments)
        for found, operand in zip(results, program.body.results, strict=True):
            assert (np.asarray(found).dtype, np.shape(found)) == operand.type[:2]
            assert operand.type.dtype[0] not in "fc" or np.abs(found).max(initial=0) < 1.5


def tidied(seed):
    program = make_program(seed)
    tidy(program)
    return program


def test_failing_programs_are_reduced():
    """To the one loop, of one part, in which there is a statement that 'fails'."""

    def fails(program):
        loops = [s for s in statements_in(program.body) if s.kind in CARRYING]
        return any("cum" in inner.template for s in loops for b in s.bodies for inner in statements_in(b))

    program = next(p for p in map(tidied, range(200)) if fails(p))
    small = reduce_program(program, fails, 20)
    assert fails(small) and small.size <= 4 < program.size
    traced(build(small), make_inputs(small)[0])
    assert "def program(" in script_text(small, "reduced")
