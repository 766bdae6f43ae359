"""Shared descriptions: which ones a function takes, in which order, and what stays as it is written."""

import inspect

import pytest

from numhlo.library.documentation import described, named
from numhlo.tracer.building import runs_anywhere

FAMILY = """
Parameters
----------
a, b : array_like
    They broadcast.
axis, keepdims : optional
    As NumPy has them.

    The first axis is 0.
*others : array_like
**options
    Passed on.

Returns
-------
Array

Raises
------
ValueError
    For complex numbers.

Notes
-----
Of the family.
"""


def test_a_function_takes_what_its_parameters_name():
    @described(FAMILY)
    def total(a, *, axis=None):
        """Return the sum.

        It is exact.

        Examples
        --------
        >>> total([1])
        1
        """

    assert total.__doc__ == inspect.cleandoc(
        """Return the sum.

        It is exact.

        Parameters
        ----------
        a : array_like
            They broadcast.
        axis : optional
            As NumPy has them.

            The first axis is 0.

        Returns
        -------
        Array

        Raises
        ------
        ValueError
            For complex numbers.

        Notes
        -----
        Of the family.

        Examples
        --------
        >>> total([1])
        1
        """
    )


def test_what_a_docstring_says_itself_wins():
    @described(FAMILY)
    def total(axis, b, a):
        """Return the sum.

        Parameters
        ----------
        b : float
            One number.

        Returns
        -------
        float

        Notes
        -----
        Its own.
        """

    assert total.__doc__ == inspect.cleandoc(
        """Return the sum.

        Parameters
        ----------
        axis : optional
            As NumPy has them.

            The first axis is 0.
        b : float
            One number.
        a : array_like
            They broadcast.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            For complex numbers.

        Notes
        -----
        Its own.
        """
    )


def test_the_first_family_that_describes_a_parameter_wins():
    first, second = "Parameters\n----------\nx : int", "Parameters\n----------\nx, y : float\n\nReturns\n-------\nArray"

    @described(first, second)
    def f(x, y):
        """Add."""

    assert f.__doc__ == "Add.\n\nParameters\n----------\nx : int\ny : float\n\nReturns\n-------\nArray"


def test_starred_parameters_stand_where_the_signature_has_them():
    @described(FAMILY)
    def f(a, *others, keepdims=False, **options):
        """Join."""

    heads = [line for line in f.__doc__.split("Returns")[0].splitlines()[4:] if line[:1].strip()]
    assert heads == ["a : array_like", "*others : array_like", "keepdims : optional", "**options"]


def test_parameters_described_together_are_in_the_order_of_the_signature():
    @described("Parameters\n----------\nx, y, z : array_like\n    They broadcast.")
    def f(z, w, x):
        """Add.

        Parameters
        ----------
        w : int
        """

    assert f.__doc__ == "Add.\n\nParameters\n----------\nz, x : array_like\n    They broadcast.\nw : int"


def test_a_function_without_parameters_has_no_such_section():
    @described(FAMILY)
    def f():
        """Return nothing."""
        a = axis = None  # locals are no parameters
        return a, axis

    assert "Parameters" not in f.__doc__ and "Returns\n-------\nArray" in f.__doc__


def test_the_function_stays_the_same():
    def f(a):
        """Return it."""
        return a

    assert described(FAMILY)(f) is f and f(3) == 3
    public = runs_anywhere(f)
    assert public.__doc__ == f.__doc__ and str(inspect.signature(public)) == "(a)"


def test_no_docstring_stays_none():
    def f(a):
        return a

    assert described(FAMILY)(f).__doc__ is None


@pytest.mark.parametrize("text", ["One line.", "One line.\n\n    More of it.\n    "])
def test_a_docstring_may_be_a_summary_alone(text):
    def f():
        pass

    f.__doc__ = text
    assert described("Returns\n-------\nArray")(f).__doc__ == inspect.cleandoc(text) + "\n\nReturns\n-------\nArray"


def test_functions_of_a_table_have_names_and_docstrings_of_their_own():
    def row(name, factor):
        def multiply(a):
            return factor * a

        return named(multiply, name, f"Return {factor} times it.", f">>> {name}(1)\n{factor}", FAMILY)

    double, triple = row("double", 2), row("triple", 3)
    assert double(4) == 8 and triple(4) == 12
    assert (double.__name__, triple.__qualname__, triple.__module__) == ("double", "triple", __name__)
    start = "Return 3 times it.\n\nParameters\n----------\na : array_like\n    They broadcast."
    assert triple.__doc__.startswith(start)
    assert triple.__doc__.endswith("Examples\n--------\n>>> triple(1)\n3")


def test_parameters_are_those_of_a_signature_that_a_function_is_given():
    def renamed(*args):
        return args

    renamed.__signature__ = inspect.signature(lambda b, axis: None)
    doc = described(FAMILY)(named(renamed, "renamed", "Return it.", ">>> renamed()\n()")).__doc__
    assert doc.index("b : array_like") < doc.index("axis : optional") and "*others" not in doc
