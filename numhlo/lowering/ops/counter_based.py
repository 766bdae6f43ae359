"""Counter-based generators on NumPy arrays: random words are a keyed hash of a counter.

Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011, defines both. Everything is uint32 and wraps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
"""Distances of Threefry's rounds: the first four rounds, the next four, and again."""

PARITY = 0x1BD11BDA
GROUPS = 5
"""Groups of four rounds; after each, words of the key are added."""

PHILOX_ROUNDS = 10
PHILOX_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
PHILOX_WEYL = (0x9E3779B9, 0xBB67AE85)
U32, U64 = np.dtype(np.uint32), np.dtype(np.uint64)


def threefry2x32(key0: Any, key1: Any, counter0: np.ndarray, counter1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return Threefry 2x32-20 of counters; keys broadcast.

    Parameters
    ----------
    key0, key1, counter0, counter1 : uint32 arrays

    Examples
    --------
    >>> zero = np.zeros((), np.uint32)
    >>> [hex(word) for word in threefry2x32(zero, zero, zero, zero)]
    ['0x6b200159', '0x99ba4efe']
    """
    with np.errstate(over="ignore"):
        keys = [np.asarray(key0, U32), np.asarray(key1, U32)]
        keys.append(keys[0] ^ keys[1] ^ np.uint32(PARITY))
        x, y = np.array(counter0 + keys[0]), np.array(counter1 + keys[1])
        for group in range(GROUPS):
            for distance in ROTATIONS[group % 2]:
                x += y
                right = y >> np.uint32(32 - distance)
                y <<= np.uint32(distance)
                y |= right
                y ^= x
            x += keys[(group + 1) % 3]
            y += keys[(group + 2) % 3] + np.uint32(group + 1)
    return x, y


def philox4x32(
    counter0: np.ndarray, counter1: np.ndarray, counter2: np.ndarray, counter3: np.ndarray, key0: Any, key1: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return Philox 4x32-10 of counters.

    Parameters
    ----------
    counter0, counter1, counter2, counter3, key0, key1 : uint32 arrays

    Examples
    --------
    >>> zero = np.zeros(1, np.uint32)
    >>> [hex(word[0]) for word in philox4x32(zero, zero, zero, zero, zero, zero)]
    ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
    """
    a, b, c, d = counter0, counter1, counter2, counter3
    with np.errstate(over="ignore"):
        for turn in range(PHILOX_ROUNDS):
            keys = [
                np.asarray(k, U32) + U32.type(turn * w & 0xFFFFFFFF)
                for k, w in zip((key0, key1), PHILOX_WEYL, strict=True)
            ]
            first, second = (x.astype(U64) * U64.type(m) for x, m in zip((a, c), PHILOX_MULTIPLIERS, strict=True))
            a, b, c, d = (_high(second) ^ b ^ keys[0], _low(second), _high(first) ^ d ^ keys[1], _low(first))
    return a, b, c, d


def _low(x: np.ndarray) -> np.ndarray:
    return x.astype(U32)


def _high(x: np.ndarray) -> np.ndarray:
    return (x >> np.uint64(32)).astype(U32)
