"""How the first cache is built, as Linux tells it."""

import pytest

from numhlo.backend.processors import COMMON_CACHE, Cache, first_cache


def _describe(root, number, **words):
    folder = root / f"index{number}"
    folder.mkdir()
    for name, word in words.items():
        (folder / name).write_text(f"{word}\n")


def test_the_cache_for_data_of_the_first_level_counts(tmp_path):
    _describe(tmp_path, 0, level=1, type="Instruction", number_of_sets=64, ways_of_associativity=16)
    _describe(tmp_path, 1, level=2, type="Unified", number_of_sets=2048, ways_of_associativity=16)
    _describe(tmp_path, 2, level=1, type="Data", number_of_sets=256, ways_of_associativity=4)
    assert first_cache(tmp_path) == Cache(sets=256, ways=4)


@pytest.mark.parametrize(
    "words",
    [
        {},
        {"level": 1, "type": "Data"},
        {"level": 1, "type": "Data", "number_of_sets": 0, "ways_of_associativity": 0},
        {"level": 1, "type": "Data", "number_of_sets": "many", "ways_of_associativity": 8},
        {"level": 2, "type": "Unified", "number_of_sets": 2048, "ways_of_associativity": 16},
    ],
)
def test_a_cache_that_is_not_described_is_a_common_one(tmp_path, words):
    assert first_cache(tmp_path / "nowhere") == COMMON_CACHE
    _describe(tmp_path, 0, **words)
    assert first_cache(tmp_path) == COMMON_CACHE
