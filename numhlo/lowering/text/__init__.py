"""StableHLO text: printing and parsing, in the generic form and in each op's own pretty form."""

from numhlo.lowering.text import (  # noqa: F401 - importing them fills the tables of pretty forms
    pretty_comparison,
    pretty_contraction,
    pretty_control_flow,
    pretty_conversion,
    pretty_convolution,
    pretty_creation,
    pretty_elementwise,
    pretty_layout,
    pretty_rare,
    pretty_reduction,
    pretty_sharding,
    shape_forms,
    tensorflow_forms,
)
from numhlo.lowering.text.module_parser import parse
from numhlo.lowering.text.printer import print_function, print_module

__all__ = ["parse", "print_function", "print_module"]
