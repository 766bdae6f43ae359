"""`checkpoint_policies` and `checkpoint_name`: what a checkpointed function keeps for the way back.

A policy is asked about each op of the function: ``policy(primitive, *types, **attributes) -> bool``. The primitive has
a ``name``, StableHLO's, such as ``"dot_general"``; that of a named value is ``"numhlo.checkpoint_name"``, with the
attribute ``name``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numhlo.lowering.ir import TensorType
from numhlo.lowering.ops import contraction, control_flow
from numhlo.lowering.ops.annotations import CHECKPOINT_NAME, make_annotation
from numhlo.tracer.building import asarray, bind1, current_trace, shape_of, tree_map

Policy = Callable[..., bool]


def checkpoint_name(x: Any, name: str) -> Any:
    """Return ``x``, known by a name to the policies of `checkpoint`; ``x`` may be a pytree.

    Parameters
    ----------
    x : pytree of arrays
    name : str

    Returns
    -------
    pytree of arrays
        The same.

    Examples
    --------
    >>> import numpy as np
    >>> import numhlo
    >>> policy = checkpoint_policies.save_only_these_names("hidden")
    >>> layer = lambda x: np.sin(checkpoint_name(np.tanh(x), "hidden"))
    >>> float(numhlo.grad(numhlo.checkpoint(layer, policy=policy))(0.0))
    1.0
    """
    if current_trace() is None:
        return x

    def named(leaf: Any) -> Any:
        array = asarray(leaf)
        type = TensorType(shape_of(array), array.dtype)
        attributes = make_annotation(CHECKPOINT_NAME, type, name=name)
        return bind1(control_flow.COMPOSITE, array, attributes=attributes, results=[type])

    return tree_map(named, x)


class CheckpointPolicies:
    """What a checkpointed function keeps for the way back; the names are JAX's.

    Examples
    --------
    >>> import numpy as np
    >>> import numhlo
    >>> layer = numhlo.checkpoint(lambda w, x: np.tanh(x @ w).sum(), policy=checkpoint_policies.dots_saveable)
    >>> numhlo.grad(layer)(np.zeros(2), np.ones((3, 2)))
    Array([3., 3.])
    """

    @staticmethod
    def nothing_saveable(*_: Any, **__: Any) -> bool:
        """Keep the arguments only; the default."""
        return False

    @staticmethod
    def everything_saveable(*_: Any, **__: Any) -> bool:
        """Keep all that the derivative needs, as without `checkpoint`."""
        return True

    @staticmethod
    def dots_saveable(primitive: Any, *_: Any, **__: Any) -> bool:
        """Keep matrix products, and compute again what is cheap."""
        return primitive is contraction.DOT_GENERAL

    @staticmethod
    def dots_with_no_batch_dims_saveable(primitive: Any, *_: Any, **attributes: Any) -> bool:
        """Keep products without batch dimensions: those with weights, not those of attention."""
        if primitive is not contraction.DOT_GENERAL:
            return False
        return not attributes["dot_dimension_numbers"].lhs_batching_dimensions

    checkpoint_dots = dots_saveable
    checkpoint_dots_with_no_batch_dims = dots_with_no_batch_dims_saveable

    @staticmethod
    def save_only_these_names(*names: str) -> Policy:
        """Return the policy that keeps values that `checkpoint_name` gave one of these names."""
        return lambda primitive, *_, **attributes: primitive is CHECKPOINT_NAME and attributes["name"] in names

    @staticmethod
    def save_any_names_but_these(*names: str) -> Policy:
        """Return the policy that keeps values with a name other than these."""
        return lambda primitive, *_, **attributes: primitive is CHECKPOINT_NAME and attributes["name"] not in names

    @staticmethod
    def save_anything_except_these_names(*names: str) -> Policy:
        """Return the policy that keeps everything but values with one of these names."""
        return lambda primitive, *_, **attributes: primitive is not CHECKPOINT_NAME or attributes["name"] not in names

    @staticmethod
    def save_from_both_policies(first: Policy, second: Policy) -> Policy:
        """Return the policy that keeps what either of two keeps."""
        return lambda *arguments, **attributes: first(*arguments, **attributes) or second(*arguments, **attributes)

    @staticmethod
    def save_and_offload_only_these_names(
        *,
        names_which_can_be_saved: Sequence[str],
        names_which_can_be_offloaded: Sequence[str],
        offload_src: str = "device",
        offload_dst: str = "pinned_host",
    ) -> Policy:
        """Return the policy that keeps values with one of these names; there is one memory, where all of them lie."""
        del offload_src, offload_dst
        return CheckpointPolicies.save_only_these_names(*names_which_can_be_saved, *names_which_can_be_offloaded)

    @staticmethod
    def offload_dot_with_no_batch_dims(offload_src: str, offload_dst: str) -> Policy:
        """Return `dots_with_no_batch_dims_saveable`: there is one memory."""
        del offload_src, offload_dst
        return CheckpointPolicies.dots_with_no_batch_dims_saveable


checkpoint_policies = CheckpointPolicies()
