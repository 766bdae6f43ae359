"""`jax.scipy.spatial.transform`: rotations in space as quaternions, traced and differentiated like other arrays.

A rotation is a tuple of one array of quaternions, (4,) or (n, 4), whose scalar part is the last.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numhlo.compat.jax.numpy as jnp
from numhlo.compat.jax import random
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError

__all__ = ["Rotation", "Slerp"]

SMALL = 1e-3
"""Below this angle a series takes the place of a quotient of sines: its third term is at the rounding of float64."""


def _norm(x: Any) -> Any:
    return jnp.sqrt(jnp.sum(x * x, axis=-1, keepdims=True))


def _product(p: Any, q: Any) -> Any:
    """Return the product of quaternions: first ``q``, then ``p``."""
    v, w, u, s = p[..., :3], p[..., 3:], q[..., :3], q[..., 3:]
    vector = w * u + s * v + jnp.cross(v, u)
    return jnp.concatenate([vector, w * s - jnp.sum(v * u, axis=-1, keepdims=True)], axis=-1)


def _conjugate(q: Any) -> Any:
    return jnp.concatenate([-q[..., :3], q[..., 3:]], axis=-1)


def _about(axis: str, angle: Any) -> Any:
    """Return the quaternion of a rotation about one axis."""
    parts = [jnp.zeros_like(angle)] * 3
    parts["xyz".index(axis)] = jnp.sin(angle / 2)
    return jnp.stack([*parts, jnp.cos(angle / 2)], axis=-1)


def _sequence(seq: str) -> tuple[str, bool]:
    """Return the axes of Euler angles, and whether they turn with the body."""
    lower = seq.lower()
    legal = 1 <= len(seq) <= 3 and set(lower) <= set("xyz") and (seq in (lower, seq.upper()))
    if not legal or any(a == b for a, b in pairwise(lower)):
        raise ArgumentError(
            f"Euler angles about {seq!r}",
            where=capture_location(),
            fix="name one to three axes, neighbours of which differ: 'xyz' fixed in space, 'XYZ' turning with the body",
        )
    return lower, seq != lower


class Rotation(NamedTuple):
    """One rotation in space, or several.

    Attributes
    ----------
    quat : array, shape (4,) or (n, 4)
        Of length 1, the scalar part last.

    Notes
    -----
    Source: `scipy.spatial.transform.Rotation`, `jax.scipy.spatial.transform.Rotation`.

    Examples
    --------
    >>> turn = Rotation.from_euler("z", 90.0, degrees=True)
    >>> turn.apply(jnp.array([1.0, 0.0, 0.0])).round(5)
    Array([0., 1., 0.], dtype=float...)
    """

    quat: Any

    @classmethod
    def from_quat(cls, quat: Any) -> Rotation:
        """Return rotations of quaternions of any length but zero."""
        given = jnp.asarray(quat) * 1.0
        if given.ndim not in (1, 2) or given.shape[-1] != 4:
            raise ShapeError(
                f"quaternions of shape {given.shape}", where=capture_location(), fix="give them as (4,) or (n, 4)"
            )
        return cls(given / _norm(given))

    @classmethod
    def from_rotvec(cls, rotvec: Any, degrees: bool = False) -> Rotation:
        """Return rotations of vectors along their axes, as long as their angles."""
        given = jnp.asarray(rotvec) * 1.0
        vector = jnp.deg2rad(given) if degrees else given
        square = jnp.sum(vector * vector, axis=-1, keepdims=True)
        tiny = square < SMALL * SMALL
        angle = jnp.sqrt(jnp.where(tiny, 1.0, square))
        scale = jnp.where(tiny, 0.5 - square / 48 + square * square / 3840, jnp.sin(angle / 2) / angle)
        scalar = jnp.where(tiny, 1 - square / 8 + square * square / 384, jnp.cos(angle / 2))
        return cls(jnp.concatenate([scale * vector, scalar], axis=-1))

    @classmethod
    def from_mrp(cls, mrp: Any) -> Rotation:
        """Return rotations of modified Rodrigues parameters, the axes times the tangents of a quarter of the angles."""
        given = jnp.asarray(mrp) * 1.0
        square = jnp.sum(given * given, axis=-1, keepdims=True)
        return cls(jnp.concatenate([2 * given, 1 - square], axis=-1) / (1 + square))

    @classmethod
    def from_matrix(cls, matrix: Any) -> Rotation:
        """Return rotations of matrices (3, 3) or (n, 3, 3), of the quaternion's greatest part first."""
        m = jnp.asarray(matrix) * 1.0
        if m.shape[-2:] != (3, 3):
            raise ShapeError(f"rotations of matrices {m.shape}", where=capture_location(), fix="give them as (n, 3, 3)")
        diagonal = jnp.stack([m[..., k, k] for k in range(3)], axis=-1)
        trace = jnp.sum(diagonal, axis=-1)
        rows = []
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            parts: list[Any] = [None] * 4
            parts[i] = 1 - trace + 2 * m[..., i, i]
            parts[j], parts[k] = m[..., j, i] + m[..., i, j], m[..., k, i] + m[..., i, k]
            parts[3] = m[..., k, j] - m[..., j, k]
            rows.append(jnp.stack(parts, axis=-1))
        turns = [m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]]
        rows.append(jnp.stack([*turns, 1 + trace], axis=-1))
        greatest = jnp.argmax(jnp.concatenate([diagonal, trace[..., None]], axis=-1), axis=-1)
        chosen = jnp.take_along_axis(jnp.stack(rows, axis=-2), greatest[..., None, None], axis=-2)[..., 0, :]
        return cls(chosen / _norm(chosen))

    @classmethod
    def from_euler(cls, seq: str, angles: Any, degrees: bool = False) -> Rotation:
        """Return rotations about axes one after the other: of ``"xyz"`` fixed in space, of ``"XYZ"`` the body's."""
        axes, turning = _sequence(seq)
        given = jnp.asarray(angles) * 1.0
        radians = jnp.deg2rad(given) if degrees else given
        if len(axes) == 1 and (radians.ndim == 0 or radians.shape[-1] != 1):
            radians = radians[..., None]
        if radians.ndim == 0 or radians.shape[-1] != len(axes):
            raise ShapeError(
                f"Euler angles {radians.shape} about {seq!r}", where=capture_location(), fix="give one for each axis"
            )
        found = _about(axes[0], radians[..., 0])
        for k, axis in enumerate(axes[1:], 1):
            next_one = _about(axis, radians[..., k])
            found = _product(found, next_one) if turning else _product(next_one, found)
        return cls(found)

    @classmethod
    def identity(cls, num: int | None = None, dtype: Any = float) -> Rotation:
        """Return rotations that turn nothing."""
        one = jnp.array([0.0, 0.0, 0.0, 1.0], dtype=dtype)
        return cls(one if num is None else jnp.tile(one, (num, 1)))

    @classmethod
    def random(cls, random_key: Any, num: int | None = None) -> Rotation:
        """Return rotations drawn uniformly by a key."""
        return cls.from_quat(random.normal(random_key, (4,) if num is None else (num, 4)))

    @classmethod
    def concatenate(cls, rotations: Any) -> Rotation:
        """Return the rotations of a sequence as one."""
        return cls(jnp.concatenate([jnp.atleast_2d(r.quat) for r in rotations]))

    def as_quat(self, canonical: bool = False, scalar_first: bool = False) -> Any:
        """Return quaternions; canonical ones have no negative scalar part."""
        quat = jnp.where(self.quat[..., 3:] < 0, -self.quat, self.quat) if canonical else self.quat
        return jnp.roll(quat, 1, axis=-1) if scalar_first else quat

    def as_matrix(self) -> Any:
        """Return matrices (3, 3) or (n, 3, 3)."""
        x, y, z, w = (self.quat[..., k] for k in range(4))
        rows = [
            [x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), -x * x + y * y - z * z + w * w, 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), -x * x - y * y + z * z + w * w],
        ]
        return jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)

    def as_rotvec(self, degrees: bool = False) -> Any:
        """Return vectors along the axes, as long as the angles, which are at most half a turn."""
        quat = self.as_quat(canonical=True)
        vector, scalar = quat[..., :3], quat[..., 3:]
        square = jnp.sum(vector * vector, axis=-1, keepdims=True)
        tiny = square < SMALL * SMALL
        length = jnp.sqrt(jnp.where(tiny, 1.0, square))
        found = vector * jnp.where(
            tiny, 2 + square / 3 + 3 * square * square / 20, 2 * jnp.arctan2(length, scalar) / length
        )
        return jnp.rad2deg(found) if degrees else found

    def as_mrp(self) -> Any:
        """Return modified Rodrigues parameters of length at most 1."""
        quat = self.as_quat(canonical=True)
        return quat[..., :3] / (1 + quat[..., 3:])

    def as_euler(self, seq: str, degrees: bool = False) -> Any:
        """Return three angles about axes; see `from_euler`.

        Notes
        -----
        Source: Bernardes and Viollet, Quaternion to Euler angles conversion, 2022. Where the middle angle makes the
        outer axes one, the last of those fixed in space is zero.
        """
        axes, turning = _sequence(seq)
        if len(axes) != 3:
            raise ArgumentError(f"as_euler({seq!r})", where=capture_location(), fix="name three axes")
        order = axes[::-1] if turning else axes
        i, j = "xyz".index(order[0]), "xyz".index(order[1])
        symmetric = order[0] == order[2]
        k = 3 - i - j if symmetric else "xyz".index(order[2])
        sign = (i - j) * (j - k) * (k - i) // 2
        q = [self.quat[..., n] for n in range(4)]
        a, b, c, d = q[3], q[i], q[j], q[k] * sign
        if not symmetric:
            a, b, c, d = a - c, b + d, c + a, d - b
        middle = 2 * jnp.arctan2(jnp.hypot(c, d), jnp.hypot(a, b))
        half_sum, half_difference = jnp.arctan2(b, a), jnp.arctan2(d, c)
        zero, straight = jnp.abs(middle) <= 1e-7, jnp.abs(middle - jnp.pi) <= 1e-7
        lock = -1 if turning else 1
        locked = jnp.where(zero, 2 * half_sum, 2 * half_difference * -lock)
        first, last = half_sum - half_difference, half_sum + half_difference
        if turning:
            first, last = last, first
        held = zero | straight
        first = jnp.where(held, locked, first)
        last = jnp.where(held, 0.0, last)
        if not symmetric:
            middle = middle - jnp.pi / 2
            if turning:
                first = first * sign
            else:
                last = last * sign
        return _wrapped(jnp.stack([first, middle, last], axis=-1), degrees)

    def apply(self, vectors: Any, inverse: bool = False) -> Any:
        """Return vectors (3,) or (n, 3), turned."""
        matrix = self.as_matrix()
        turned = jnp.swapaxes(matrix, -1, -2) if inverse else matrix
        return jnp.sum(turned * jnp.asarray(vectors)[..., None, :], axis=-1)

    def inv(self) -> Rotation:
        """Return the rotations back."""
        return Rotation(_conjugate(self.quat))

    def magnitude(self) -> Any:
        """Return the angles, from 0 to half a turn."""
        return 2 * jnp.arctan2(_norm(self.quat[..., :3])[..., 0], jnp.abs(self.quat[..., 3]))

    def mean(self, weights: Any = None) -> Rotation:
        """Return the mean: the greatest eigenvector of the sum of the quaternions' outer products."""
        quats = jnp.atleast_2d(self.quat)
        weighted = quats if weights is None else quats * jnp.asarray(weights)[:, None]
        return Rotation(jnp.linalg.eigh(weighted.T @ quats)[1][:, -1])

    @property
    def single(self) -> bool:
        """Return whether it is one rotation."""
        return bool(self.quat.ndim == 1)

    def __mul__(self, other: Any) -> Rotation:
        return Rotation(_product(self.quat, other.quat))

    def __len__(self) -> int:
        if self.quat.ndim == 1:
            raise TypeError("Single rotation has no len().")
        return int(self.quat.shape[0])

    def __getitem__(self, index: Any) -> Rotation:
        return Rotation(self.quat[index])


def _wrapped(angles: Any, degrees: bool) -> Any:
    found = jnp.where(angles < -jnp.pi, angles + 2 * jnp.pi, jnp.where(angles > jnp.pi, angles - 2 * jnp.pi, angles))
    return jnp.rad2deg(found) if degrees else found


class Slerp(NamedTuple):
    """Rotations between given ones, at constant speed.

    Attributes
    ----------
    times : array, shape (n,)
        Increasing.
    timedelta : array, shape (n - 1,)
    rotations : Rotation
        The first n - 1.
    rotvecs : array, shape (n - 1, 3)
        From each to the next.

    Examples
    --------
    >>> turns = Rotation.from_euler("z", jnp.array([0.0, 90.0]), degrees=True)
    >>> Slerp.init(jnp.array([0.0, 1.0]), turns)(0.5).as_rotvec(degrees=True).round(4)
    Array([ 0.,  0., 45.], dtype=float...)
    """

    times: Any
    timedelta: Any
    rotations: Rotation
    rotvecs: Any

    @classmethod
    def init(cls, times: Any, rotations: Rotation) -> Slerp:
        """Return the rotations between those at times."""
        at = jnp.asarray(times) * 1.0
        if rotations.single or at.shape != (len(rotations),) or len(rotations) == 1:
            raise ShapeError(
                f"Slerp of times {at.shape} and quaternions {rotations.quat.shape}",
                where=capture_location(),
                fix="give as many times as rotations, two at least",
            )
        first, second = Rotation(rotations.quat[:-1]), Rotation(rotations.quat[1:])
        return cls(at, jnp.diff(at), first, (first.inv() * second).as_rotvec())

    def __call__(self, times: Any) -> Rotation:
        """Return the rotations at times."""
        at = jnp.asarray(times)
        place = jnp.clip(jnp.searchsorted(self.times, at, side="right") - 1, 0, self.timedelta.shape[0] - 1)
        share = (at - self.times[place]) / self.timedelta[place]
        return Rotation(self.rotations.quat[place]) * Rotation.from_rotvec(self.rotvecs[place] * share[..., None])
