"""Cuts between kernels: equal bodies are cut at equal places, and no piece is longer or deeper than it may be."""

import random

import pytest

from numhlo.backend.planning.pieces import pieces
from tests.work import count_calls

MOST, DEEPEST = 400, 100


def unrolled(body, rounds, states):
    """Names and uses of a loop's ops: ``body`` lists names with the ops before, or states as negative numbers."""
    names, uses = [], []
    state = [None] * states
    for _ in range(rounds):
        first = len(names)
        for name, operands in body:
            for k in operands:
                source = state[k] if k < 0 else first + k
                if source is not None:
                    uses[source].append(len(names))
            names.append(name)
            uses.append([])
        state = [first + len(body) - states + k for k in range(states)]
    return names, uses


def random_body(rng, length, states):
    """A body whose ops use the states, or ops shortly before."""
    names = ["add", "multiply", "sine", "subtract"]
    body = []
    for k in range(length):
        near = range(max(0, k - 12), k)
        operands = [rng.choice([*near, *range(-states, 0)]) for _ in range(2)]
        body.append((rng.choice(names), sorted(set(operands))))
    return body


def texts(names, uses, numbers):
    """What tells pieces apart: their ops, and how these depend on each other."""
    found = {}
    for place, number in enumerate(numbers):
        inner = tuple(user - place for user in uses[place] if numbers[user] == number)
        found.setdefault(number, []).append((names[place], inner))
    return [tuple(piece) for piece in found.values()]


@pytest.mark.parametrize("length", [1, 6, 7, 33, 71, 101, 139, 272, 401, 777, 1300])
def test_pieces_of_unrolled_loops_are_equal(length):
    rng = random.Random(length)
    states = min(3, length)
    body = random_body(rng, length, states)
    counts = []
    for ops in (5_000, 12_000):
        names, uses = unrolled(body, ops // length, states)
        distinct = set(texts(names, uses, pieces(names, uses, MOST, DEEPEST)))
        counts.append(len(distinct))
    assert counts[1] <= counts[0] + 1  # what is left at the end may have another length
    assert counts[0] <= 8 + length // 40


def test_pieces_are_bounded():
    rng = random.Random(0)
    for _ in range(12):
        count = rng.choice([1, 5, 300, 2000])
        reach = rng.choice([1, 2, 40, count])
        uses = [
            sorted({rng.randrange(k + 1, min(count, k + 1 + reach)) for _ in range(rng.randrange(3))})
            if k + 1 < count
            else []
            for k in range(count)
        ]
        names = [rng.choice("abc") for _ in range(count)]
        numbers = pieces(names, uses, 50, 10)
        assert numbers == sorted(numbers)
        assert set(numbers) == set(range(numbers[-1] + 1))
        depths = [1] * count
        for place, users in enumerate(uses):
            assert depths[place] <= 10
            for user in users:
                if numbers[user] == numbers[place]:
                    depths[user] = max(depths[user], depths[place] + 1)
        assert max(map(numbers.count, set(numbers))) <= 50


def test_few_values_cross_a_cut():
    """Two of three places are crossed by a value more."""
    body = [("sine", [-1]), ("cosine", [-1]), ("add", [0, 1])]
    names, uses = unrolled(body, 400, 1)
    numbers = pieces(names, uses, MOST, DEEPEST)
    ends = [place for place in range(1, len(numbers)) if numbers[place] != numbers[place - 1]]
    assert len(ends) > 5
    assert all(names[place - 1] == "add" for place in ends)


@pytest.mark.parametrize("growing", [False, True])
def test_work_is_linear(growing):
    def work(count):
        uses = [[k + 1] for k in range(count - 1)] + [[]]
        if growing:  # all results are needed at the end
            uses = [[*users, count - 1] for users in uses[:-2]] + uses[-2:]
        return count_calls(pieces, ["add"] * count, uses, MOST, DEEPEST)

    assert work(4000) < 4.4 * work(1000)
