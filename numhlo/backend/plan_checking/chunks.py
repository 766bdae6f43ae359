"""Chunks of one launch run at once on several threads: what one of them reads, no other may write."""

from __future__ import annotations

from numhlo.backend.plan_checking.launches import Touched
from numhlo.backend.plan_checking.listing import Finding
from numhlo.backend.program import Launch


def require_independent_chunks(launch: Launch, touched: Touched, finding: Finding) -> None:
    """Raise if a kernel may run in chunks, and reads elements in one that it writes in another."""
