"""Writes `pytorch/*.mlir`: ``python export_pytorch.py``, with torch 2.9.1, torch_xla 2.9.0 and torchax 0.0.13."""

from __future__ import annotations

import copy
import os
from pathlib import Path

os.environ["EXPERIMENTAL_XLA_UNBOUNDED_DYNAMISM"] = "1"
os.environ["PJRT_DEVICE"] = "CPU"

import jax
import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - as everybody writes it
import torch_xla
import torchax.export
from exported_file import write
from torch import nn
from torch_xla.core.xla_model import get_stablehlo
from torch_xla.stablehlo import exported_program_to_stablehlo

HERE = Path(__file__).parent / "pytorch"
torch.manual_seed(0)


class Function(nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *arrays):
        """Apply the function."""
        return self.function(*arrays)


class Residual(nn.Module):
    """A block of a residual network."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(2, 2, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(2)

    def forward(self, x):
        """Add what the block makes."""
        return F.relu(x + self.norm(self.first(x)))


class Cells(nn.Module):
    """A GRU, step by step."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 4)

    def forward(self, x):
        """Run it over the second dimension."""
        h = torch.zeros(2, 4)
        for t in range(3):
            h = self.cell(x[:, t], h)
        return h


def quantized(x):
    """Round to int8 and take apart again."""
    q = torch.ops.quantized_decomposed.quantize_per_tensor(x, 0.05, 3, -128, 127, torch.int8)
    return torch.ops.quantized_decomposed.dequantize_per_tensor(q, 0.05, 3, -128, 127, torch.int8) * 2


def places(x, i, v):
    """Gather and scatter."""
    return x[i], torch.index_add(x, 0, i, v), torch.scatter(x, 1, torch.tensor([[2], [0], [1]]), v[:, :1])


def special(x):
    """Return functions that StableHLO does not have."""
    p = torch.abs(x) + 0.1
    return torch.erf(x), torch.asinh(x), torch.atanh(torch.tanh(x)), torch.sinh(x), torch.acos(torch.tanh(x)), p.log10()


X, SEQUENCE, IMAGE = torch.randn(3, 4), torch.randn(2, 3, 8), torch.randn(2, 2, 4, 4)
I = torch.tensor([2, 0, 2])
SDPA = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)
STATIC = {
    "mlp": (nn.Sequential(nn.Linear(4, 5), nn.GELU(), nn.Linear(5, 2), nn.Softmax(-1)), X),
    "residual": (Residual(), IMAGE),
    "pooling": (nn.Sequential(nn.ConvTranspose2d(2, 3, 3, 2), nn.MaxPool2d(3, 2, 1), nn.AvgPool2d(2)), IMAGE),
    "attention": (Function(SDPA), *[torch.randn(1, 2, 3, 4) for _ in range(3)]),
    "encoder": (nn.TransformerEncoderLayer(8, 2, 8, batch_first=True), SEQUENCE),
    "gru": (Cells(), torch.randn(2, 3, 3)),
    "embedding": (nn.Embedding(5, 3), torch.tensor([[1, 4], [0, 2]])),
    "quantized": (Function(quantized), X),
    "eigenvalues": (Function(lambda x: torch.linalg.eigvalsh(x @ x.T)), X),
    "largest": (Function(lambda x: (*torch.topk(x, 2), *torch.sort(x, descending=True, stable=True))), X),
    "places": (Function(places), X, I, torch.randn(3, 4)),
    "special": (Function(special), X),
    "resize": (Function(lambda x: F.interpolate(x, (3, 6), mode="bilinear")), IMAGE[:1]),
}
"""By torch_xla."""
ANY_ROWS = {
    "any_mlp": STATIC["mlp"],
    "any_residual": STATIC["residual"],
    "any_layer_norm": (nn.Sequential(nn.Linear(4, 3), nn.LayerNorm(3)), X),
}
"""By torch_xla, for any number of rows."""
BY_JAX = {
    "jax_mlp": STATIC["mlp"],
    "jax_fourier": (Function(lambda x: torch.fft.irfft(torch.fft.rfft(x) * 2)), X),
    "jax_special": (Function(lambda x: (*special(x), torch.lgamma(x.abs() + 1), torch.digamma(x.abs() + 1))), X),
    "jax_running": (Function(lambda x: (torch.cumsum(x, 1), torch.logcumsumexp(x, 1))), X),
    "jax_qr": (Function(lambda x: torch.abs(torch.linalg.qr(x.T)[1])), X),
}
"""By torchax."""


def arrays_of(values):
    """Return tensors as arrays."""
    return [x.detach().numpy() for x in torch.utils._pytree.tree_leaves(values)]


def by_torch_xla(name, module, *inputs, dynamic=None):
    """Write a program that torch_xla exports; its arguments are weights and inputs in an order of its own."""
    module = module.eval()
    results = arrays_of(copy.deepcopy(module)(*inputs))
    exported = exported_program_to_stablehlo(torch.export.export(module, inputs, dynamic_shapes=dynamic))
    bundle, (function,) = exported._bundle, exported._bundle.stablehlo_funcs
    sources = {
        "INPUT_ARG": lambda place: inputs[place.position].numpy(),
        "PARAMETER": lambda place: np.asarray(bundle.state_dict[place.name]),
        "CONSTANT": lambda place: np.asarray(bundle.additional_constants[place.position]),
    }
    arguments = [sources[place.type_.name](place) for place in function.meta.input_locations]
    write(HERE / f"{name}.mlir", exported.get_stablehlo_text(), arguments, results)


def by_torchax(name, module, *inputs):
    """Write a program that torchax exports: weights, then inputs, as far as they are used."""
    results = arrays_of(module.eval()(*inputs))
    weights, exported = torchax.export.exported_program_to_stablehlo(torch.export.export(module, inputs))
    leaves = [*jax.tree.leaves(weights), *inputs]
    arguments = [np.asarray(leaves[k]) for k in exported.module_kept_var_idx]
    write(HERE / f"{name}.mlir", exported.mlir_module(), arguments, results)


def training_step():
    """Write a step of a classifier's training, by the lazy graph; weights are found by their values."""
    net, x, y = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3)), torch.randn(6, 4), torch.tensor([0, 1] * 3)
    there = copy.deepcopy(net).to("xla")
    values = [copy.deepcopy(p.detach()) for p in net.parameters()]
    inputs = [x.to("xla"), y.to("xla")]
    torch_xla.sync()
    for model, (features, labels) in ((there, inputs), (net, [x, y])):
        loss = F.cross_entropy(model(features), labels)
        loss.backward()
        torch.optim.SGD(model.parameters(), 0.5).step()
        if model is there:
            text = get_stablehlo(list(there.parameters()))
    known = {tuple(v.shape): v.numpy() for v in [x, y, *values]}
    kinds = next(line for line in text.splitlines() if "@main" in line).partition(") ->")[0].split("tensor<")[1:]
    shapes = [tuple(int(n) for n in kind.partition(">")[0].split("x")[:-1]) for kind in kinds]
    arguments = [known[shape] if shape else np.float32(-0.5) for shape in shapes]
    write(HERE / "training_step.mlir", text, arguments, arrays_of(list(net.parameters())))


def main():
    """Write all files."""
    for name, case in STATIC.items():
        by_torch_xla(name, *case)
    rows = torch.export.Dim("rows", min=2, max=64)
    for name, (module, *inputs) in ANY_ROWS.items():
        by_torch_xla(name, module, *inputs, dynamic=tuple([{0: rows}] * len(inputs)))
    for name, case in BY_JAX.items():
        by_torchax(name, *case)
    training_step()


if __name__ == "__main__":
    main()
