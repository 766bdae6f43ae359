"""Object code in which LLVM may have dropped a mask that is still needed, and the target whose code can't be so.

On processors with AVX-512, the last step of LLVM 22 makes one ``movmsk`` of ``vpmov*2m`` and the ``kmov`` that follows.
It does so as well where the mask is read again by an instruction that writes its register, too, as shifts of masks do,
and where the vector is in one of the registers that a ``movmsk`` can't name; results are silently wrong then. (LLVM's
issues 174871 and 191304.) What is folded there is code of AVX-512DQ and AVX-512BW: without these, masks come from
comparisons.
"""

from __future__ import annotations

import re

VEX_MAP = rb"\xc5[\x00-\xff]|\xc4[\x01\x21\x41\x61\x81\xa1\xc1\xe1][\x00-\xff]"
"""What begins an instruction of the VEX encoding's first map, in two bytes or three."""

MOVE_MASK = re.compile(rb"(?:" + VEX_MAP + rb")[\x50\xd7]", re.DOTALL)
"""``vmovmskps``, ``vmovmskpd`` or ``vpmovmskb``: other bytes may look so, which costs another compilation."""

WITHOUT_MASK_MOVES = "-avx512dq,-avx512bw"
"""Features of a target whose code has no ``vpmov*2m``."""


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
    has_folds = "+avx512dq" in features and WITHOUT_MASK_MOVES not in features
    return has_folds and MOVE_MASK.search(code) is not None
