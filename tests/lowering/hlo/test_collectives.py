"""Instructions of several processes: XLA reads them, numhlo runs them on a grid, and what it writes means the same."""

import numpy as np
import pytest

from numhlo import stablehlo
from numhlo.distributed import ProcessGrid
from numhlo.lowering.ir.errors import ParseError
from tests.lowering.hlo.judges import check_protos, entry, printed_by_xla, read_by_xla, stablehlo_of

ADD = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }"


def on_grid(text, arrays, replicas=2):
    """Return each process's results, after XLA read the text and what numhlo writes of it, and both mean the same."""
    module = stablehlo.from_hlo(printed_by_xla(read_by_xla(text)))
    module.verify()
    written = module.as_hlo_text()
    again = stablehlo.from_hlo(printed_by_xla(read_by_xla(written)))
    found, others = (ProcessGrid(replicas).run(m, [(a,) for a in arrays]) for m in (module, again))
    lists = [[[np.asarray(x).tolist() for x in row] for row in rows] for rows in (found, others)]
    assert lists[0] == lists[1]
    stablehlo.parse(stablehlo_of(written)).verify()
    check_protos(text, module)
    return lists[0]


X = np.array([1, 2, 3, 4], np.float32)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("f32[4] all-reduce(x), replica_groups={{0,1}}, to_apply=add", [[11, 22, 33, 44]] * 2),
        ("f32[4] all-reduce(x), replica_groups={}, to_apply=add", [[11, 22, 33, 44]] * 2),
        ("f32[4] all-reduce(x), replica_groups={{0},{1}}, to_apply=add", [[1, 2, 3, 4], [10, 20, 30, 40]]),
        ("f32[4] all-reduce(x), replica_groups=[1,2]<=[2], to_apply=add", [[11, 22, 33, 44]] * 2),
        (
            "f32[4] all-reduce(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add",
            [[11, 22, 33, 44]] * 2,
        ),
        ("f32[8] all-gather(x), dimensions={0}, replica_groups={{1,0}}", [[10, 20, 30, 40, 1, 2, 3, 4]] * 2),
        ("f32[2] reduce-scatter(x), dimensions={0}, replica_groups={{0,1}}, to_apply=add", [[11, 22], [33, 44]]),
        ("f32[4] all-to-all(x), dimensions={0}, replica_groups={{0,1}}", [[1, 2, 10, 20], [3, 4, 30, 40]]),
        ("f32[4] collective-broadcast(x), replica_groups={{1,0}}", [[10, 20, 30, 40]] * 2),
        ("f32[4] collective-permute(x), source_target_pairs={{0,1},{1,0}}", [[10, 20, 30, 40], [1, 2, 3, 4]]),
        ("f32[4] collective-permute(x), source_target_pairs={{0,1}}", [[0, 0, 0, 0], [1, 2, 3, 4]]),
    ],
)
def test_collectives(line, expected):
    text = entry("x = f32[4] parameter(0)", f"ROOT r = {line}", before=ADD).replace(
        "HloModule m", "HloModule m, replica_count=2"
    )
    assert on_grid(text, [X, 10 * X]) == [[row] for row in expected]


def test_an_exchange_of_several_arrays():
    lines = ["x = f32[4] parameter(0)", "y = f32[4] negate(x)"]
    line = "ROOT r = (f32[4], f32[4]) all-to-all(x, y), replica_groups={{0,1}}"
    found = on_grid(entry(*lines, line), [X, 10 * X])
    assert found == [[X.tolist(), (10 * X).tolist()], [(-X).tolist(), (-10 * X).tolist()]]


def test_several_arrays_at_once():
    lines = ["x = f32[4] parameter(0)", "y = f32[] constant(1)"]
    line = "ROOT r = (f32[4], f32[]) all-reduce(x, y), replica_groups={{0,1}}, to_apply=add"
    assert on_grid(entry(*lines, line, before=ADD), [X, 10 * X]) == [[[11, 22, 33, 44], 2]] * 2


def test_numbers_of_processes():
    lines = ["x = f32[4] parameter(0)", "a = u32[] replica-id()", "b = u32[] partition-id()"]
    assert on_grid(entry(*lines, "ROOT r = (u32[], u32[]) tuple(a, b)"), [X, X]) == [[0, 0], [1, 0]]


def test_groups_in_another_order():
    lines = ["x = f32[1] parameter(0)"]
    line = "ROOT r = f32[2] all-gather(x), dimensions={0}, replica_groups=[2,2]<=[2,2]T(1,0)"
    arrays = [np.array([k], np.float32) for k in range(4)]
    assert on_grid(entry(*lines, line), arrays, 4) == [[[0, 2]], [[1, 3]], [[0, 2]], [[1, 3]]]


@pytest.mark.parametrize(("split", "joined", "shape"), [(0, 1, (2, 6)), (1, 0, (8, 3)), (1, 1, (4, 6)), (0, 0, (4, 6))])
def test_an_exchange_between_dimensions(split, joined, shape):
    shape = [4, 6]
    shape[split] //= 2
    shape[joined] *= 2
    text = f"""func.func @main(%x: tensor<4x6xf32>) -> tensor<{shape[0]}x{shape[1]}xf32> {{
      %0 = "stablehlo.all_to_all"(%x) <{{split_dimension = {split} : i64, concat_dimension = {joined} : i64,
        split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}}>
        : (tensor<4x6xf32>) -> tensor<{shape[0]}x{shape[1]}xf32>
      return %0 : tensor<{shape[0]}x{shape[1]}xf32>
    }}"""
    module = stablehlo.parse(text)
    again = stablehlo.from_hlo(printed_by_xla(read_by_xla(module.as_hlo_text())))
    arrays = [(np.arange(24, dtype=np.float32).reshape(4, 6) + 100 * k,) for k in range(2)]
    for found, expected in zip(ProcessGrid(2).run(again, arrays), ProcessGrid(2).run(module, arrays), strict=True):
        np.testing.assert_array_equal(found, expected)


TRANSFERS = """
  x = f32[4] parameter(0)
  k = token[] after-all()
  s = (f32[4], u32[], token[]) send(x, k), channel_id=1, is_host_transfer=true
  d = token[] send-done(s), channel_id=1, is_host_transfer=true
  r = (f32[4], u32[], token[]) recv(d), channel_id=2, is_host_transfer=true
  e = (f32[4], token[]) recv-done(r), channel_id=2, is_host_transfer=true
  v = f32[4] get-tuple-element(e), index=0
  t = token[] get-tuple-element(e), index=1
  i = ((f32[4], s32[]), token[]) infeed(t), infeed_config="odd \\"text\\""
  p = (f32[4], s32[]) get-tuple-element(i), index=0
  u = token[] get-tuple-element(i), index=1
  o = token[] outfeed(p, u), outfeed_shape=(f32[4], s32[])
  n = s32[] get-tuple-element(p), index=1
  ROOT w = (f32[4], s32[]) tuple(v, n)
"""


def test_what_is_sent_and_received():
    text = entry(*TRANSFERS.strip().splitlines())
    module = stablehlo.from_hlo(printed_by_xla(read_by_xla(text)))
    module.verify()
    printed = module.as_text()
    for name in ("send", "recv", "infeed", "outfeed"):
        assert printed.count(f'"stablehlo.{name}"') == 1
    assert "handle = 1, type = 2" in printed
    assert "handle = 2, type = 3" in printed
    written = printed_by_xla(read_by_xla(module.as_hlo_text()))
    check_protos(text, module)
    again = stablehlo.from_hlo(written).as_text()
    assert again.count('"stablehlo.') == printed.count('"stablehlo.')
    assert "odd \\22text\\22" in again


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("f32[4] all-reduce(x), replica_groups={{0,0}}, to_apply=add", "replica_groups"),
        ("f32[4] all-reduce(x), replica_groups=[2,2]<=[2], to_apply=add", "the same number of processes twice"),
        ("f32[4] all-reduce(x), replica_groups=[99999999]<=[99999999], to_apply=add", "up to 1048576"),
        ("f32[4] all-reduce(x), replica_groups=3, to_apply=add", r"expected '\['"),
        ("f32[5] all-gather(x), dimensions={0}, replica_groups={{0,1}}", "multiple"),
        ("f32[4] all-to-all(x), dimensions={0}", "needs replica_groups"),
        ("(f32[4], f32[]) all-to-all(x, y), replica_groups={{0,1}}", "arrays of one type"),
        ("f32[4] collective-permute(x), source_target_pairs={{0,1},{0,1}}", "pairs"),
        ("f32[4] all-gather(x), dimensions={0,1}", "all-gather has one dimension"),
        ("token[] send-done(x)", "send-done takes what send returns"),
        ("(f32[4], u32[], token[]) send(x), channel_id=1", "send takes a value and a token"),
    ],
)
def test_what_is_refused(line, message):
    with pytest.raises(ParseError, match=message):
        stablehlo.from_hlo(entry("x = f32[4] parameter(0)", "y = f32[] constant(0)", f"ROOT r = {line}", before=ADD))
