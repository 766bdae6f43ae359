"""A find as a program of its own: the source, its calls, NumPy's answers and numhlo's, without these tests."""

from __future__ import annotations

from collections.abc import Mapping

from tests.every_call.source_programs import Source

DRIVER = """

def arguments(number):
    rng = np.random.default_rng([{seed}, number])
    return [{arguments}]


if __name__ == "__main__":
    compiled = numhlo.jit(program, autograph={autograph}, static_argnums={static}{tier0})
    wrong = []
    for call, number in enumerate((0, 1, 0, 1, 0)):
        want, found = arguments(number), arguments(number)
        right, got = program(*want), compiled(*found)
        right, got = (x if type(x) is tuple else (x,) for x in (right, got))
        for what, one, other in (("result", right, got), ("argument", want, found)):
            for k, (x, y) in enumerate(zip(one, other, strict=True)):
                if x is not None and not np.allclose(x, y, {tolerance}, {tolerance}):
                    print(f"call {{call}}: {{what}} {{k}} is {{np.array(y).tolist()}}, NumPy's {{np.array(x).tolist()}}")
                    wrong.append((call, what, k))
    assert not wrong, wrong
"""


def standalone(source: Source, verdicts: Mapping[str, tuple[str, str]]) -> str:
    """Return the text of a program that shows a find.

    Parameters
    ----------
    source : Source
    verdicts : mapping of str to (str, str)
        Each tier's verdict on it.
    """
    tiers = [f"# {tier}: {kind} {' '.join(detail.split())[:300]}" for tier, (kind, detail) in verdicts.items()]
    given = []
    for p in source.parameters:
        if p.is_steps:
            given.append("int(rng.choice((0, 1, 2, 3, 5, 8, 61, 120)))")
        elif p.dtype == "int64":
            given.append(f"rng.integers(0, 7, {p.shape})")
        else:
            given.append(f"rng.uniform(-0.9, 0.9, {p.shape}).astype(np.{p.dtype})")
    static = tuple(k for k, p in enumerate(source.parameters) if p.is_steps and source.static)
    is_single = any(p.dtype == "float32" for p in source.parameters)
    driver = DRIVER.format(
        seed=source.seed,
        arguments=", ".join(given),
        autograph=source.autograph,
        static=static,
        tier0="" if verdicts.get("first", ("", ""))[0] not in ("right", "skipped") else ", tier0=False",
        tolerance="2e-4" if is_single else "1e-9",
    )
    kind = f"# {probable(source, verdicts)}"
    text = source.text.replace("import numpy as np\n", "import numpy as np\n\nimport numhlo\n", 1)
    return "\n".join([kind, *tiers, text.rstrip()]) + "\n" + driver


def probable(source: Source, verdicts: Mapping[str, tuple[str, str]]) -> str:
    """Return a guess at where the mistake is, from the tiers that make it."""
    kinds = {tier: kind for tier, (kind, _) in verdicts.items()}
    if "foreign" in kinds.values() or "crash" in kinds.values():
        return "other: an exception or a crash"
    if kinds.get("interpreter") == "wrong":
        return "probably identity: wrong under the interpreter, too"
    if kinds.get("first") == "wrong":
        return "other: first answers are wrong, the interpreter is right"
    return "probably planner: machine code alone is wrong"
