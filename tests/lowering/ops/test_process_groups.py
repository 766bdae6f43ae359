"""Ways to group the processes of a grid: the worked examples of the specification, and what is refused."""

import numpy as np
import pytest

from numhlo.lowering.ir.errors import CommunicationError, UnsupportedError
from numhlo.lowering.ops import process_groups
from numhlo.lowering.ops.dimension_numbers import ChannelHandle
from numhlo.lowering.ops.process_groups import GridShape, groups_of

WORKED = {
    "cross_replica": ([[0, 1], [2, 3]], [[(0, 0), (1, 0)], [(0, 1), (1, 1)], [(2, 0), (3, 0)], [(2, 1), (3, 1)]]),
    "cross_partition": ([[0, 1]], [[(0, 0), (0, 1)], [(1, 0), (1, 1)], [(2, 0), (2, 1)], [(3, 0), (3, 1)]]),
    "cross_replica_and_partition": (
        [[0, 1], [2, 3]],
        [[(0, 0), (1, 0), (0, 1), (1, 1)], [(2, 0), (3, 0), (2, 1), (3, 1)]],
    ),
    "flattened_ids": (
        [[0, 1, 2, 3], [4, 5, 6, 7]],
        [[(0, 0), (0, 1), (1, 0), (1, 1)], [(2, 0), (2, 1), (3, 0), (3, 1)]],
    ),
}


@pytest.mark.specifies("ways to group")
@pytest.mark.parametrize("strategy", WORKED)
def test_examples_of_the_specification(strategy):
    ids, groups = WORKED[strategy]
    assert [list(group) for group in getattr(process_groups, strategy)(ids, GridShape(4, 2))] == groups


@pytest.mark.parametrize(
    ("name", "handle", "everywhere", "ids", "wanted"),
    [
        ("all_reduce", 0, False, [[1, 0]], [[(1, 0), (0, 0)], [(1, 1), (0, 1)]]),
        ("all_reduce", 0, False, np.empty((0, 0), np.int64), [[(0, 0), (1, 0)], [(0, 1), (1, 1)]]),
        ("all_gather", 1, False, [[0, 1]], [[(0, 0), (1, 0), (0, 1), (1, 1)]]),
        ("reduce_scatter", 1, True, [[3, 0], [1, 2]], [[(1, 1), (0, 0)], [(0, 1), (1, 0)]]),
        ("all_reduce", 0, False, [[0, -1], [1, -1]], [[(0, 0)], [(0, 1)], [(1, 0)], [(1, 1)]]),
        ("all_to_all", 1, False, [[0, 1]], [[(0, 0), (0, 1)], [(1, 0), (1, 1)]]),
        ("collective_broadcast", 0, False, [[1]], [[(1, 0)], [(1, 1)]]),
    ],
)
def test_the_channel_chooses(name, handle, everywhere, ids, wanted):
    attributes = {"replica_groups": np.array(ids, np.int64), "channel_handle": ChannelHandle(handle, 0)}
    attributes |= {"use_global_device_ids": True} if everywhere else {}
    assert [list(group) for group in groups_of(name, attributes, GridShape(2, 2))] == wanted


def test_nobody_permutes_without_pairs():
    assert groups_of("collective_permute", {"source_target_pairs": np.empty((0, 2), np.int64)}, GridShape(2, 1)) == []


def test_ids_are_those_of_the_grid():
    with pytest.raises(
        CommunicationError, match=r"^stablehlo\.all_reduce groups \[0, 1\], the grid has 4 of them\n  its"
    ):
        groups_of("all_reduce", {"replica_groups": [[0, 1]]}, GridShape(4, 1))
    with pytest.raises(CommunicationError, match=r"\[0, 9\], the grid has 4 of them\n  ids must be in the grid"):
        groups_of("collective_permute", {"source_target_pairs": [[0, 9]]}, GridShape(4, 1))
    with pytest.raises(UnsupportedError, match="axes of a mesh"):
        groups_of("all_reduce", {"replica_groups": object()}, GridShape(4, 1))
