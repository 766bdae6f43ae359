"""What NumPy's functions mean is found whether or not its family has been loaded."""

import numpy as np
import pytest

from numhlo.library.numpy import families
from numhlo.lowering.ir.late_modules import LateTable
from numhlo.tracer.core.numpy_functions import FUNCTIONS, _is_numpys


def late(function, implementation):
    """A table of which one is loaded when it is asked for; and how often the rest was loaded."""
    made, loads = LateTable(_is_numpys), []
    made[np.add] = abs

    def load_rest():
        loads.append(function)
        made[function] = implementation

    made.load_rest = load_rest
    return made, loads


@pytest.mark.parametrize("function", [np.histogram, np.linalg.norm, np.fft.fft, np.where, np.sin])
def test_a_function_of_numpys_loads_the_rest_when_it_is_not_there(function):
    for ask in (lambda m: m.get(function), lambda m: m[function], lambda m: function in m and m.get(function)):
        made, loads = late(function, len)
        assert made[np.add] is abs and not loads
        assert ask(made) is len
        assert ask(made) is len and len(loads) == 1


@pytest.mark.parametrize("other", [len, print, late, pytest.raises, int, None])
def test_nothing_else_loads_it(other):
    made, loads = late(np.histogram, len)
    assert made.get(other) is None and made.get(other, "absent") == "absent" and other not in made
    with pytest.raises(KeyError):
        made[other]
    assert not loads


def test_what_families_give_a_meaning_to_is_all_numpys():
    assert families.FAMILIES
    asked = []
    made = LateTable(_is_numpys)
    for function in FUNCTIONS:
        made.load_rest = lambda function=function: asked.append(function)
        made.get(function)
    assert asked == list(FUNCTIONS)
