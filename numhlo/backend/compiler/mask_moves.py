"""Object code in which LLVM may have dropped a mask that is still needed, and a module whose code can't be so.

On processors with AVX-512, the last step of LLVM 22 makes one ``movmsk`` of ``vpmov*2m`` and the ``kmov`` that follows.
It does so as well where the mask is read again by an instruction that writes its register, too, as shifts of masks do,
and where the vector is in one of the registers that a ``movmsk`` can't name; results are silently wrong then (LLVM's
issues 174871 and 191304). A mask comes from ``vpmov*2m`` where it is the signs of numbers, or their lowest bits. Where
it comes from a comparison with a number that LLVM does not know, nothing is folded.
"""

from __future__ import annotations

import re

VEX_MAP = rb"\xc5[\x00-\xff]|\xc4[\x01\x21\x41\x61\x81\xa1\xc1\xe1][\x00-\xff]"
"""What begins an instruction of the VEX encoding's first map, in two bytes or three."""

MOVE_MASK = re.compile(rb"(?:" + VEX_MAP + rb")[\x50\xd7]", re.DOTALL)
"""``vmovmskps``, ``vmovmskpd`` or ``vpmovmskb``: other bytes may look so, which costs another compilation."""

VECTOR = r"<(?P<count>\d+) x i(?P<width>\d+)>"
SIGNS = re.compile(
    rf"^  (?P<name>%\S+) = icmp (?P<order>slt|sge) {VECTOR} (?P<value>%\S+), zeroinitializer$", re.MULTILINE
)
POSITIVE = re.compile(
    rf"^  (?P<name>%\S+) = icmp (?P<order>sgt) {VECTOR} (?P<value>%\S+), splat \(i\d+ -1\)$", re.MULTILINE
)
LOWEST_BITS = re.compile(
    rf"^  (?P<name>%\S+) = trunc (?:nuw |nsw )*{VECTOR} (?P<value>%\S+) to <\d+ x i1>$", re.MULTILINE
)
FLOAT_BITS = 32


def may_lack_masks(code: bytes, features: str) -> bool:
    """Return whether object code has what LLVM may have folded wrongly.

    Parameters
    ----------
    code : bytes
        An object file.
    features : str
        Of the target that it was made for, as LLVM spells them.

    Examples
    --------
    >>> may_lack_masks(bytes.fromhex("c5f850c0"), "+avx512f,+avx512dq")  # vmovmskps %xmm0, %eax
    True
    >>> may_lack_masks(bytes.fromhex("c5f850c0"), "+avx2")
    False
    """
    return "+avx512f" in features.split(",") and MOVE_MASK.search(code) is not None


def with_compared_masks(module: str) -> str:
    """Return the text of a module whose masks of signs and of lowest bits are comparisons with an unknown zero.

    Examples
    --------
    >>> print(with_compared_masks("  %1 = icmp slt <4 x i32> %0, zeroinitializer"))
      %m1.fence = call <4 x float> @llvm.arithmetic.fence.v4f32(<4 x float> zeroinitializer)
      %m1.zero = bitcast <4 x float> %m1.fence to <4 x i32>
      %1 = icmp slt <4 x i32> %0, %m1.zero
    declare <4 x float> @llvm.arithmetic.fence.v4f32(<4 x float>)
    """
    fences: set[int] = set()

    def compared(match: re.Match[str]) -> str:
        count, width = int(match["count"]), int(match["width"])
        floats, rest = divmod(count * width, FLOAT_BITS)
        if rest:
            return match[0]
        fences.add(floats)
        name, value, vector = match["name"], match["value"], f"<{count} x i{width}>"
        order = {"slt": "slt", "sge": "sge", "sgt": "sge"}.get(match.groupdict().get("order") or "", "ne")
        lines = [
            f"{_inner(name, 'fence')} = call <{floats} x float> @llvm.arithmetic.fence.v{floats}f32"
            f"(<{floats} x float> zeroinitializer)",
            f"{_inner(name, 'zero')} = bitcast <{floats} x float> {_inner(name, 'fence')} to {vector}",
        ]
        if order == "ne":
            lines.append(f"{_inner(name, 'bit')} = and {vector} {value}, splat (i{width} 1)")
            value = _inner(name, "bit")
        lines.append(f"{name} = icmp {order} {vector} {value}, {_inner(name, 'zero')}")
        return "\n".join(f"  {line}" for line in lines)

    for pattern in (SIGNS, POSITIVE, LOWEST_BITS):
        module = pattern.sub(compared, module)
    declared = [n for n in sorted(fences) if f"declare <{n} x float> @llvm.arithmetic.fence" not in module]
    declarations = [f"declare <{n} x float> @llvm.arithmetic.fence.v{n}f32(<{n} x float>)" for n in declared]
    return "\n".join([module.rstrip("\n"), *declarations])


def _inner(name: str, part: str) -> str:
    """Return the name of a value that another one is made of; numbers are names only where nothing follows them."""
    return f"%m{name[1:]}.{part}" if name[1:].isdigit() else f"{name}.{part}"
