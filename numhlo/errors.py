"""`numhlo.errors`: what numhlo raises on purpose, each also one of Python's own errors, all a `NumhloError`.

``error.what``, ``error.where`` (the user's file, line and function), ``error.why`` and ``error.fix`` are the parts of
the message.

Examples
--------
>>> import numpy as np
>>> import numhlo
>>> try:
...     numhlo.jit(lambda x: x + np.ones(4))(np.ones(3))
... except numhlo.errors.ShapeError as error:
...     print(error.what)
add: cannot broadcast float64[3] with float64[4]
"""

from numhlo.lowering.ir.conversion_errors import (
    ArrayConversionError,
    DataDependentIndexError,
    IntegerConversionError,
    TruthValueError,
)
from numhlo.lowering.ir.derivative_errors import (
    ClosureDerivativeError,
    ForwardDerivativeError,
    LoopDerivativeError,
    MissingRuleError,
)
from numhlo.lowering.ir.errors import (
    ArgumentError,
    AxisOutOfBoundsError,
    CommunicationError,
    ConcretizationError,
    ControlFlowTypeError,
    DataDependentShapeError,
    DrawError,
    DTypeError,
    EndlessRecursionError,
    ImmutableArrayError,
    IntegerOverflowError,
    InternalError,
    InvalidIndexError,
    InvalidValueError,
    LeakedTracerError,
    MutationError,
    NotCallableError,
    NumhloError,
    OperandError,
    OutOfMemoryError,
    ParseError,
    ShapeError,
    SignatureError,
    StaticArgumentError,
    UndefinedVariableError,
    UnsupportedError,
    VerificationError,
)
from numhlo.lowering.ir.native_errors import NativeCallError
from numhlo.lowering.ir.promotion_errors import TypePromotionError

__all__ = [
    "ArgumentError",
    "ArrayConversionError",
    "AxisOutOfBoundsError",
    "ClosureDerivativeError",
    "CommunicationError",
    "ConcretizationError",
    "ControlFlowTypeError",
    "DTypeError",
    "DataDependentIndexError",
    "DataDependentShapeError",
    "DrawError",
    "EndlessRecursionError",
    "ForwardDerivativeError",
    "ImmutableArrayError",
    "IntegerConversionError",
    "IntegerOverflowError",
    "InternalError",
    "InvalidIndexError",
    "InvalidValueError",
    "LeakedTracerError",
    "LoopDerivativeError",
    "MissingRuleError",
    "MutationError",
    "NativeCallError",
    "NotCallableError",
    "NumhloError",
    "OperandError",
    "OutOfMemoryError",
    "ParseError",
    "ShapeError",
    "SignatureError",
    "StaticArgumentError",
    "TruthValueError",
    "TypePromotionError",
    "UndefinedVariableError",
    "UnsupportedError",
    "VerificationError",
]
