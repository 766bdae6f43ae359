"""Switches: values and their errors, the tables that list them, and what each makes a compilation say."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import numhlo
from numhlo.compilation import programs
from numhlo.lowering.ir.errors import ArgumentError, InternalError
from numhlo.lowering.passes.rewriting import Rewriter
from numhlo.switches import SWITCHES, _warn_of_unknown_variables, debugging, using, value_of

ROOT = Path(__file__).resolve().parents[1]
ELSEWHERE = {"NUMHLO_CACHE_DIR"}
"""Variables that are a room's own."""


def make_model():
    """Return a function that nothing was compiled for yet."""

    def model(x, n):
        y = np.sin(x) * n
        return np.exp(-y)

    return numhlo.jit(model)


def make_double():
    def double(x):
        return x * 2

    return numhlo.jit(double)


def test_values():
    with using(dump="trace,kernels", time=True, verify="0", dump_to=Path("somewhere")):
        assert value_of("dump") == {"trace", "kernels"}
        assert value_of("time") is True and value_of("verify") is False
        assert value_of("dump_to") == "somewhere"
        with debugging(dump=["passes"], engine="interpreter"):
            assert value_of("dump") == {"passes"} and value_of("engine") == "interpreter"
            assert value_of("time") is True
        with debugging(dump="all"):
            assert value_of("dump") == {"trace", "stablehlo", "passes", "kernels"}
        assert value_of("dump") == {"trace", "kernels"}
    assert value_of("dump") == frozenset() and value_of("dump_to") == ""


def test_wrong_values_list_legal_ones():
    with pytest.raises(ArgumentError) as caught, debugging(dump="passes,assembly"):
        pass
    assert str(caught.value) == (
        "dump='passes,assembly'\n  at test_switches.py:55 in test_wrong_values_list_legal_ones:  "
        'with pytest.raises(ArgumentError) as caught, debugging(dump="passes,assembly"):\n  what to write of every compilation: ops beside the user\'s lines, '
        "StableHLO, each pass's result, kernel source; use one of trace, stablehlo, passes, kernels, all"
    )
    with pytest.raises(ArgumentError) as caught, using(time="yes"):
        pass
    assert re.sub("\n  at .*", "", str(caught.value)) == (
        "time='yes'\n  say how many seconds tracing, passes, code generation and each run take; use one of 0, 1"
    )
    with (
        pytest.raises(
            ArgumentError,
            match=r"no switch 'dumps'\n  at test_switches.*\n  use one of engine, tier0, check, guard_pages, dump, ",
        ),
        using(dumps="all"),
    ):
        pass


@pytest.mark.slow
def test_the_environment_sets_them():
    code = (
        "import numpy as np, numhlo\n"
        "numhlo.jit(lambda x: x + 1)(np.ones(2))\n"
        "from numhlo.switches import value_of\n"
        "print(value_of('verify'), value_of('engine'), sorted(value_of('dump')))\n"
    )
    environment = {**os.environ, "NUMHLO_DUMP": "stablehlo", "NUMHLO_ENGINE": "interpreter", "NUMHLO_VERIFY": ""}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT, env=environment, timeout=200
    )
    assert run.stdout == "False interpreter ['stablehlo']\n"
    assert run.stderr.startswith("==== lambda: stablehlo ====\nmodule {\n")
    environment["NUMHLO_DUMP"] = "everything"
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=environment,
        timeout=200,
    )
    assert run.returncode and "NUMHLO_DUMP is 'everything'" in run.stderr


@pytest.mark.parametrize(
    ("name", "told"), [("EXPLAINCACHE", "did you mean NUMHLO_EXPLAIN_CACHE?"), ("Q", "there are NUMHLO_CACHE_DIR, ")]
)
def test_variables_that_nothing_reads_are_told(name, told, monkeypatch):
    monkeypatch.setenv(f"NUMHLO_{name}", "1")
    monkeypatch.setenv("NUMHLO_TIME", "1")
    with pytest.warns(UserWarning, match=f"variable NUMHLO_{name} does nothing; {re.escape(told)}") as caught:
        _warn_of_unknown_variables.__wrapped__()
    assert len(caught) == 1


def table(page):
    """Return the rows of the page's table of variables."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return {
        name: (values, help)
        for name, values, help in re.findall(r"^\| `?(NUMHLO_\w+)`? \| (.*?) \| (.*?) \|$", text, re.M)
    }


@pytest.mark.parametrize("page", ["README.md", "docs/environment.md"])
def test_pages_list_all_switches(page):
    rows = table(page)
    for_developers = {"NUMHLO_FRONT_END"} if page == "docs/environment.md" else set()
    assert set(rows) == {s.variable for s in SWITCHES.values()} | ELSEWHERE | for_developers
    for switch in SWITCHES.values():
        values, help = rows[switch.variable]
        shown = switch.legal if not switch.values else ", ".join(f"`{v}`" for v in switch.legal.split(", "))
        assert (values, help) == (shown, switch.help), f"{page}: write | {switch.variable} | {shown} | {switch.help} |"


def test_dumps_go_to_standard_error(capsys, golden):
    with debugging(dump="trace,stablehlo", engine="interpreter"):
        make_model()(np.ones(3), 2.0)
    text = capsys.readouterr().err
    golden(re.sub(r"test_switches.py:\d+", "test_switches.py:LINE", text))
    with debugging(dump="passes", engine="interpreter"):
        make_model()(np.ones(3), 2.0)
    titles = re.findall("^==== (.*) ====$", capsys.readouterr().err, re.MULTILINE)
    assert titles and all(title.startswith("model: after ") for title in titles)


def test_dumps_go_to_numbered_files(tmp_path, capsys):
    with debugging(dump="all", dump_to=tmp_path / "dumps", engine="compiled"):
        f = make_model()
        f(np.ones(3), 2.0)
        f(np.ones(3), 2.0)
        f(np.ones(4), 2.0)
        make_double()(1.0)
    assert capsys.readouterr().err == ""
    folders = sorted(p.name for p in (tmp_path / "dumps").iterdir())
    assert folders == ["000_model", "001_model", "002_double"]
    names = sorted(p.name for p in (tmp_path / "dumps" / "000_model").iterdir())
    assert names[:2] == ["00_trace.mlir", "01_stablehlo.mlir"] and "02_after_rewrite.mlir" in names
    sources = [p for p in (tmp_path / "dumps" / "000_model").iterdir() if p.suffix == ".py"]
    assert sources and all("def " in p.read_text() for p in sources)
    numhlo.stablehlo.parse((tmp_path / "dumps" / "000_model" / "01_stablehlo.mlir").read_text()).verify()


def test_dumps_show_kernels_before_and_after_their_transformations(tmp_path):
    @numhlo.jit
    def f(x, k):
        def add(i, y):
            return y.at[k[i]].add(x[k[i] % 3])

        return numhlo.lax.fori_loop(0, k.size, add, x)

    with debugging(dump="kernels", dump_to=tmp_path, engine="compiled"):
        f(np.ones(5), np.arange(-2, 3))
    before, after = sorted(p for p in (tmp_path / "000_f").iterdir() if "while_loop" in p.name)
    assert after.stem.endswith("_while_loop_after_eliminate_dead_code")
    assert len(after.read_text().splitlines()) < len(before.read_text().splitlines())


def test_dumps_that_can_not_be_written(tmp_path):
    (tmp_path / "file").touch()
    refused = pytest.raises(ArgumentError, match=r"dumps can't be written to .*file: File exists\n.*\n  name a folder")
    with debugging(dump="stablehlo", dump_to=tmp_path / "file", engine="interpreter"), refused:
        make_model()(np.ones(3), 2.0)


def test_causes_of_traces(capsys):
    f = make_model()
    with debugging(explain_cache=True, engine="interpreter"):
        f(np.ones(3), 2.0)
        f(np.ones(3), 3.0)
        f(np.ones(3, np.float32), 3.0)
    assert capsys.readouterr().err.splitlines() == [
        "numhlo: model(x: float64[3], n: Python float) is traced; first: nothing was compiled before",
        "numhlo: model(x: float32[3], n: Python float) is traced; dtype: x was float64[3], now float32[3]",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["compiled", "interpreter"])
def test_times(capsys, engine):
    with debugging(time=True, engine=engine):
        f = make_model()
        f(np.ones(3), 2.0)
        f.wait()
        f(np.ones(3), 2.0)
        f(np.ones(3), 2.0)
    f(np.ones(3), 2.0)
    compiled, *runs = capsys.readouterr().err.splitlines()
    signature = r"numhlo: model\(x: float64\[3\], n: Python float\): "
    codegen = r", codegen \d\.\d{4} s" if engine == "compiled" else ""
    assert re.fullmatch(rf"{signature}trace \d\.\d{{4}} s, passes \d\.\d{{4}} s{codegen}", compiled)
    assert len(runs) == 3 and all(re.fullmatch(rf"{signature}run \d\.\d{{6}} s", line) for line in runs)


def test_verification_after_each_pass(monkeypatch):
    def break_function(self, source):
        source.body.returns[0] = Rewriter.original(self, source).body.returns[0]
        return source

    monkeypatch.setattr(Rewriter, "original", Rewriter.function, raising=False)
    monkeypatch.setattr(Rewriter, "function", break_function)
    f = make_double()
    with debugging(verify=True), pytest.raises(InternalError) as caught:
        f(np.ones(3))
    assert str(caught.value) == (
        "after rewrite: @double: returned value 0 is used before it is defined\n"
        "  this is a bug of numhlo, in rewrite: please report it with the program below"
    )
    assert "func.func public @double" in caught.value.__notes__[0]


def test_tests_verify():
    assert value_of("verify") is True


def test_an_engine_chosen_for_a_block_answers_no_call_outside(monkeypatch):
    made = []
    for kind in (programs.CompiledProgram, programs.InterpretedProgram):
        make = lambda *args, kind=kind, **kwargs: made.append(kind.__name__) or kind(*args, **kwargs)
        monkeypatch.setattr(programs, kind.__name__, make)

    def double(x):
        return x * 2

    x = np.arange(3.0)
    calls = []
    for engine in ("interpreter", "compiled", "interpreter", "compiled"):
        with debugging(engine=engine):
            calls += [numhlo.jit(double)(x), numhlo.jit(double)(x)]
    calls.append(numhlo.jit(double)(x))
    assert made == ["InterpretedProgram", "CompiledProgram"]
    assert all(np.array_equal(found, 2 * x) for found in calls)
