"""Every function of the Array API standard 2024.12 takes what the standard's signature says."""

from __future__ import annotations

import inspect

import numhlo.numpy as n

SIGNATURES = """
arange(start, /, stop=None, step=1, *, dtype=None, device=None)
asarray(obj, /, *, dtype=None, device=None, copy=None)
empty(shape, *, dtype=None, device=None)
empty_like(x, /, *, dtype=None, device=None)
eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None)
from_dlpack(x, /, *, device=None, copy=None)
full(shape, fill_value, *, dtype=None, device=None)
full_like(x, /, fill_value, *, dtype=None, device=None)
linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True)
meshgrid(*arrays, indexing="xy")
ones(shape, *, dtype=None, device=None)
ones_like(x, /, *, dtype=None, device=None)
tril(x, /, *, k=0)
triu(x, /, *, k=0)
zeros(shape, *, dtype=None, device=None)
zeros_like(x, /, *, dtype=None, device=None)
astype(x, dtype, /, *, copy=True, device=None)
can_cast(from_, to, /)
finfo(type, /)
iinfo(type, /)
isdtype(dtype, kind)
result_type(*arrays_and_dtypes)
clip(x, /, min=None, max=None)
round(x, /)
take(x, indices, /, *, axis)
take_along_axis(x, indices, /, *, axis=-1)
matmul(x1, x2, /)
matrix_transpose(x, /)
tensordot(x1, x2, /, *, axes=2)
vecdot(x1, x2, /, *, axis=-1)
broadcast_arrays(*arrays)
broadcast_to(x, /, shape)
concat(arrays, /, *, axis=0)
expand_dims(x, /, *, axis=0)
flip(x, /, *, axis=None)
moveaxis(x, source, destination, /)
permute_dims(x, /, axes)
repeat(x, repeats, /, *, axis=None)
reshape(x, /, shape, *, copy=None)
roll(x, /, shift, *, axis=None)
squeeze(x, /, axis)
stack(arrays, /, *, axis=0)
tile(x, repetitions, /)
unstack(x, /, *, axis=0)
argmax(x, /, *, axis=None, keepdims=False)
argmin(x, /, *, axis=None, keepdims=False)
count_nonzero(x, /, *, axis=None, keepdims=False)
nonzero(x, /)
searchsorted(x1, x2, /, *, side="left", sorter=None)
where(condition, x1, x2, /)
unique_all(x, /)
unique_counts(x, /)
unique_inverse(x, /)
unique_values(x, /)
argsort(x, /, *, axis=-1, descending=False, stable=True)
sort(x, /, *, axis=-1, descending=False, stable=True)
cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False)
cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False)
max(x, /, *, axis=None, keepdims=False)
mean(x, /, *, axis=None, keepdims=False)
min(x, /, *, axis=None, keepdims=False)
prod(x, /, *, axis=None, dtype=None, keepdims=False)
std(x, /, *, axis=None, correction=0.0, keepdims=False)
sum(x, /, *, axis=None, dtype=None, keepdims=False)
var(x, /, *, axis=None, correction=0.0, keepdims=False)
all(x, /, *, axis=None, keepdims=False)
any(x, /, *, axis=None, keepdims=False)
diff(x, /, *, axis=-1, n=1, prepend=None, append=None)
linalg.cholesky(x, /, *, upper=False)
linalg.cross(x1, x2, /, *, axis=-1)
linalg.det(x, /)
linalg.diagonal(x, /, *, offset=0)
linalg.eigh(x, /)
linalg.eigvalsh(x, /)
linalg.inv(x, /)
linalg.matmul(x1, x2, /)
linalg.matrix_norm(x, /, *, keepdims=False, ord="fro")
linalg.matrix_power(x, n, /)
linalg.matrix_rank(x, /, *, rtol=None)
linalg.matrix_transpose(x, /)
linalg.outer(x1, x2, /)
linalg.pinv(x, /, *, rtol=None)
linalg.qr(x, /, *, mode="reduced")
linalg.slogdet(x, /)
linalg.solve(x1, x2, /)
linalg.svd(x, /, *, full_matrices=True)
linalg.svdvals(x, /)
linalg.tensordot(x1, x2, /, *, axes=2)
linalg.trace(x, /, *, offset=0, dtype=None)
linalg.vecdot(x1, x2, /, *, axis=-1)
linalg.vector_norm(x, /, *, axis=None, keepdims=False, ord=2)
fft.fft(x, /, *, n=None, axis=-1, norm="backward")
fft.ifft(x, /, *, n=None, axis=-1, norm="backward")
fft.fftn(x, /, *, s=None, axes=None, norm="backward")
fft.ifftn(x, /, *, s=None, axes=None, norm="backward")
fft.rfft(x, /, *, n=None, axis=-1, norm="backward")
fft.irfft(x, /, *, n=None, axis=-1, norm="backward")
fft.rfftn(x, /, *, s=None, axes=None, norm="backward")
fft.irfftn(x, /, *, s=None, axes=None, norm="backward")
fft.hfft(x, /, *, n=None, axis=-1, norm="backward")
fft.ihfft(x, /, *, n=None, axis=-1, norm="backward")
fft.fftfreq(n, /, *, d=1.0, dtype=None, device=None)
fft.rfftfreq(n, /, *, d=1.0, dtype=None, device=None)
fft.fftshift(x, /, *, axes=None)
fft.ifftshift(x, /, *, axes=None)
"""
OF_ONE = "abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite isinf isnan log log1p log2 log10 logical_not negative positive real reciprocal round sign signbit sin sinh square sqrt tan tanh trunc"  # fmt: skip
OF_TWO = "add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor maximum minimum multiply nextafter not_equal pow remainder subtract"  # fmt: skip


def standard_parameters(text):
    """Return a signature's parameters by position, and those by keyword with their defaults."""
    inside = text[text.index("(") + 1 : -1]
    made = eval(f"lambda {inside}: None", {})
    return list(inspect.signature(made).parameters.values())


def test_signatures():
    lines = [
        *SIGNATURES.split("\n"),
        *[f"{f}(x, /)" for f in OF_ONE.split()],
        *[f"{f}(x1, x2, /)" for f in OF_TWO.split()],
    ]
    wrong = []
    for line in filter(None, lines):
        function = n
        for name in line[: line.index("(")].split("."):
            function = getattr(function, name)
        wanted = standard_parameters(line)
        positional = [0 for p in wanted if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        by_name = {p.name: 0 for p in wanted if p.kind is p.KEYWORD_ONLY}
        names = [p.name for p in wanted if p.kind is p.POSITIONAL_OR_KEYWORD]
        signature = inspect.signature(function)
        try:
            signature.bind(*positional, **by_name)
            signature.bind(*positional[len(names) :], **by_name, **dict.fromkeys(names, 0))
        except TypeError as error:
            wrong.append(f"{line}: {error}")
        wrong += [
            f"{line}: {p.name} is required" for p in wanted
            if p.default is not p.empty and p.name in signature.parameters
            and signature.parameters[p.name].default is inspect.Parameter.empty
        ]  # fmt: skip
    assert wrong == []
    assert len(lines) > 150
