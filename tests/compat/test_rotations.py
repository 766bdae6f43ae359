"""`jax.scipy.spatial.transform`: SciPy as the oracle."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.spatial.transform as theirs

import numhlo.compat.jax as compat
from numhlo.compat.jax.scipy.spatial.transform import Rotation, Slerp
from numhlo.lowering.ir.errors import ArgumentError, ShapeError

QUATS = np.random.default_rng(7).normal(size=(6, 4))


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


def same(found, wanted):
    close(found.as_quat(canonical=True), wanted.as_quat(canonical=True))


def test_conversions():
    for quats in (QUATS, QUATS[0]):
        mine, other = Rotation.from_quat(quats), theirs.Rotation.from_quat(quats)
        for name in ("as_matrix", "as_rotvec", "as_mrp", "magnitude"):
            close(getattr(mine, name)(), getattr(other, name)())
        same(Rotation.from_matrix(mine.as_matrix()), other)
        same(Rotation.from_rotvec(mine.as_rotvec(degrees=True), degrees=True), other)
        same(Rotation.from_mrp(mine.as_mrp()), other)
        close(mine.as_quat(scalar_first=True), other.as_quat(scalar_first=True))
        close(mine.apply(QUATS[0, :3]), other.apply(QUATS[0, :3]))
        close(mine.apply(QUATS[0, :3], inverse=True), other.apply(QUATS[0, :3], inverse=True))
        same(mine * mine.inv() * mine, other)
    for angle in (0.0, 1e-9, 1e-4, 2e-3, 3.1):
        vector = np.array([0.6, 0.0, 0.8]) * angle
        same(Rotation.from_rotvec(vector), theirs.Rotation.from_rotvec(vector))
        close(Rotation.from_rotvec(vector).as_rotvec(), vector)


def test_euler_angles():
    mine, other = Rotation.from_quat(QUATS), theirs.Rotation.from_quat(QUATS)
    sequences = ["".join(s) for s in product("xyz", repeat=3) if s[0] != s[1] != s[2]]
    for seq in [*sequences, *map(str.upper, sequences)]:
        angles = other.as_euler(seq)
        close(mine.as_euler(seq), angles)
        same(Rotation.from_euler(seq, angles), other)
        locked = theirs.Rotation.from_euler(seq, [0.3, 0.0 if seq[0] == seq[2] else np.pi / 2, 0.4])
        same(Rotation.from_euler(seq, Rotation.from_quat(locked.as_quat()).as_euler(seq)), locked)
    for seq, angles in (("z", 30.0), ("z", [30.0]), ("x", [[1.0], [2.0]]), ("zy", [10.0, 20.0])):
        wanted = theirs.Rotation.from_euler(seq, angles, degrees=True)
        same(Rotation.from_euler(seq, angles, degrees=True)[...], wanted)


def test_several():
    mine, other = Rotation.from_quat(QUATS), theirs.Rotation.from_quat(QUATS)
    assert len(mine) == 6 and not mine.single and mine[0].single
    same(mine.mean(), other.mean())
    same(mine.mean(np.arange(1.0, 7.0)), other.mean(np.arange(1.0, 7.0)))
    same(Rotation.concatenate([mine, mine[0]]), theirs.Rotation.concatenate([other, other[0]]))
    same(Rotation.identity(2), theirs.Rotation.identity(2))
    assert Rotation.random(compat.random.key(0), 3).quat.shape == (3, 4)
    times = np.arange(6.0)
    at = np.array([0.0, 0.3, 2.5, 5.0])
    same(Slerp.init(times, mine)(at), theirs.Slerp(times, other)(at))


@pytest.mark.slow
def test_traced_and_differentiated():
    def x_of(angle):
        return Rotation.from_rotvec(compat.numpy.array([0.0, 0.0, 1.0]) * angle).apply(compat.numpy.array([1.0, 0, 0]))[
            0
        ]

    for angle in (0.0, 1e-4, 0.5):
        close(compat.jit(compat.grad(x_of))(angle), -np.sin(angle))
    turned = compat.jit(lambda r: r * r)(Rotation.from_quat(QUATS))
    same(turned, theirs.Rotation.from_quat(QUATS) ** 2)


def test_what_is_refused():
    with pytest.raises(ShapeError, match=r"quaternions of shape \(3,\)"):
        Rotation.from_quat(np.ones(3))
    with pytest.raises(ShapeError, match="give one for each axis"):
        Rotation.from_euler("xyz", [1.0, 2.0])
    for seq in ("xxy", "xYz", "w", ""):
        with pytest.raises(ArgumentError, match="name one to three axes"):
            Rotation.from_euler(seq, 1.0)
    with pytest.raises(ShapeError, match="matrices"):
        Rotation.from_matrix(np.eye(2))
    with pytest.raises(ArgumentError, match="name three axes"):
        Rotation.identity().as_euler("xy")
    with pytest.raises(ShapeError, match="two at least"):
        Slerp.init(np.arange(3.0), Rotation.identity(2))
    with pytest.raises(TypeError, match="no len"):
        len(Rotation.identity())
