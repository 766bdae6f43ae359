"""References to arrays beside JAX's, and what libraries ask of keys, structures and abstract values."""

import jax
import jax.custom_derivatives
import numpy as np
import pytest

import numhlo.compat.jax as ours
from numhlo.compat.jax.experimental import hijax
from numhlo.errors import UnsupportedError


def written(m, x):
    ref = m.new_ref(x)
    ref[0] = 5.0
    ref[1:] += 1.0
    m.ref.addupdate(ref, 2, 4.0)
    old = m.ref.swap(ref, 1, 9.0)
    return ref[...], ref[1], old, m.ref.get(ref, slice(0, 2))


def made_inside(m, x):
    ref = m.new_ref(x * 2)
    ref[0] = ref[1] * x[0]
    return m.freeze(ref)


def read_in_a_loop(m, x):
    ref = m.new_ref(x)
    return m.lax.fori_loop(0, 3, lambda i, c: c + ref[i], 0.0)


PROGRAMS = {
    "written": written,
    "in a traced function": lambda m, x: m.jit(lambda x: written(m, x))(x),
    "differentiated": lambda m, x: m.grad(lambda x: made_inside(m, x).sum())(x),
    "read in a loop": lambda m, x: m.jit(lambda x: read_in_a_loop(m, x))(x),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_references(name):
    found, wanted = (PROGRAMS[name](m, m.numpy.array([1.0, 2.0, 3.0])) for m in (ours, jax))
    for one, other in zip(ours.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_what_a_reference_says():
    for m in (ours, jax):
        ref = m.new_ref(m.numpy.zeros((2, 3)))
        facts = (
            ref.shape,
            str(ref.dtype),
            ref.ndim,
            ref.size,
            len(ref),
            isinstance(ref, m.Array),
            isinstance(ref, m.Ref),
        )
        assert facts == ((2, 3), "float64", 2, 6, 2, False, True)
        assert repr(m.typeof(ref)) == "Ref{float64[2,3]}"
        assert m.tree.leaves([ref]) == [ref]


REFUSED = {
    "another dtype": lambda m, ref: ref.__setitem__(0, m.numpy.int32(1)),
    "arithmetic": lambda m, ref: ref + 1,
    "a sum": lambda m, ref: m.numpy.sum(ref),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    for m in (ours, jax):
        with pytest.raises((TypeError, ValueError)):
            REFUSED[name](m, m.new_ref(m.numpy.zeros(3)))


def test_references_stay_where_they_are_made():
    ref = ours.new_ref(np.zeros(3))
    with pytest.raises(UnsupportedError, match=r"pass its contents ref\[...\] in"):
        ours.jit(lambda x: x + ref[0])(1.0)
    with pytest.raises(UnsupportedError, match="new_ref"):
        ours.grad(lambda x: ref.__setitem__(0, x))(1.0)

    def loop(x):
        inner = ours.new_ref(x)
        return ours.lax.fori_loop(0, 3, lambda i, c: inner.__setitem__(i, c) or c, 0.0)

    with pytest.raises(UnsupportedError, match="written in a traced function"):
        ours.jit(loop)(np.zeros(3))
    ours.free_ref(ref)
    with pytest.raises(ValueError, match="freed"):
        ref[0]


class Doubled(hijax.HiPrimitive):
    def impl(self, x):
        return 2 * x


def test_operations_above_arrays_can_be_declared_alone():
    doubled = Doubled("doubled")
    with pytest.raises(UnsupportedError, match=r"doubled of jax\.experimental\.hijax"):
        doubled.bind(1.0)


FACTS = {
    "structure in the leaves": lambda m: str(
        m.tree.structure((1, {"a": 2})).compose(m.tree.structure([1, None])).unflatten("xy")
    ),
    "abstract value of keys": lambda m: [
        (a.shape, str(a.dtype), a.str_short())
        for a in (m.typeof(m.random.key(0)), m.random.split(m.random.key(0)).aval)
    ],
    "axes as a range": lambda m: m.numpy.expand_dims(m.numpy.ones(3), range(2)).shape,
    "zeros of a tree": lambda m: m.tree.map(
        float, m.custom_derivatives.zero_from_primal((m.numpy.ones(()), {"a": 2.0}))
    ),
}


@pytest.mark.parametrize("name", FACTS)
def test_facts(name):
    assert FACTS[name](ours) == FACTS[name](jax)


def closing_over(m, x):
    """Ask for the shape of an array from outside a block that computes at once."""
    with m.ensure_compile_time_eval():
        shape = m.eval_shape(lambda: x * 2).shape
        ones = m.numpy.ones(shape)
    return x + ones.sum()


def test_shapes_of_traced_arrays_in_a_block_that_computes():
    for x in (np.ones(3), np.ones((2, 2))):
        np.testing.assert_array_equal(
            ours.jit(lambda x: closing_over(ours, x))(x), jax.jit(lambda x: closing_over(jax, x))(x)
        )
