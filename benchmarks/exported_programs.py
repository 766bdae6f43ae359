"""Programs as people write them for JAX, to be exported as StableHLO text and run elsewhere.

Each is a function of a size that returns a JAX function and its arguments.
"""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import exported_networks as networks
from benchmarks import exported_numerics as numerics
from benchmarks.exported_data import Made

PROGRAMS: dict[str, tuple[Callable[[int], Made], int, int]] = {
    make.__name__: (make, small, large)
    for make, small, large in (
        (networks.sgd_step, 12, 128),
        (networks.adam_step, 12, 128),
        (networks.logistic_regression, 20, 500),
        (networks.convolution_step, 8, 32),
        (networks.dilated_convolutions, 8, 32),
        (networks.average_pooling, 8, 64),
        (networks.batch_normalization, 8, 64),
        (networks.attention, 6, 64),
        (networks.transformer_block, 6, 64),
        (networks.lstm, 6, 50),
        (networks.gated_units, 6, 50),
        (networks.embedding_update, 20, 2000),
        (networks.beam_step, 12, 5000),
        (numerics.ranks, 12, 1000),
        (numerics.two_keys, 16, 5000),
        (numerics.fft_convolution, 20, 4000),
        (numerics.spectrum, 16, 1024),
        (numerics.gaussian_process, 9, 100),
        (numerics.least_squares, 8, 500),
        (numerics.principal_components, 12, 500),
        (numerics.option_prices, 10, 2000),
        (numerics.random_choices, 10, 2000),
        (networks.bfloat16_network, 8, 128),
        (networks.half_precision, 8, 256),
        (numerics.hashing, 6, 200),
        (numerics.checksums, 6, 200),
        (numerics.edges, 9, 200),
        (numerics.resizing, 6, 64),
        (numerics.edit_distance, 7, 60),
        (numerics.viterbi, 8, 100),
        (numerics.knapsack, 8, 50),
        (numerics.game_of_life, 8, 100),
        (numerics.bodies, 6, 50),
        (numerics.mandelbrot, 12, 100),
        (numerics.clusters, 30, 1000),
        (numerics.kalman_filter, 10, 200),
        (numerics.running_values, 9, 1000),
        (numerics.conjugate_gradients, 10, 100),
        (numerics.histograms, 12, 2000),
        (numerics.complex_numbers, 6, 100),
        (networks.quantized_weights, 8, 128),
        (networks.per_example_gradients, 6, 64),
        (numerics.heat, 10, 100),
        (numerics.normal_modes, 8, 100),
    )
}
"""By name: how it is made, a size for tests, and one for timing."""
