"""NumPy's names that can't be traced, or mean nothing here, and what to write instead."""

from __future__ import annotations

from typing import NoReturn

from numhlo.library import unsupported_names

ADVICE: dict[str, str] = {
    **dict.fromkeys(["matrix", "bmat", "asmatrix", "mat"], "use two-dimensional arrays and @"),
    **dict.fromkeys(["recarray", "rec", "void", "record"], "use a dict or dataclass of arrays"),
    "poly1d": "use polyval and its kin on arrays of coefficients",
    "polynomial": "use NumPy's, which takes traced arrays; or polyval, polyfit and their kin",
    "emath": "cast to complex first; the dtype can't follow values",
    "asarray_chkfinite": "use asarray, and isfinite(x).all() as a result",
    "ma": "use where=, or where(mask, x, fill)",
    **dict.fromkeys(["char", "strings"], "keep text outside; traced arrays hold numbers"),
    **dict.fromkeys(["trapz"], "use trapezoid"),
    **dict.fromkeys(["in1d"], "use isin"),
    **dict.fromkeys(["row_stack"], "use vstack"),
    **dict.fromkeys(["product", "cumproduct", "alltrue", "sometrue"], "use prod, cumprod, all, any"),
    **dict.fromkeys(["float128", "float96"], "use float64"),
    **dict.fromkeys(["complex256", "complex192"], "use complex128"),
    **dict.fromkeys(["int2", "int4", "uint2", "uint4"], "use int8 or uint8; parsed programs may hold narrower ones"),
    "as_strided": "use lib.stride_tricks.as_strided",
    "testing": "use NumPy's on the results",
    **dict.fromkeys(["nditer", "nested_iters", "flatiter"], "use whole-array operations, or vmap"),
    "memmap": "open it with NumPy; it is accepted as an argument",
    "random": "use numhlo.random, whose keys make draws part of the program",
    **dict.fromkeys(["object_", "str_", "bytes_"], "keep such data outside; traced arrays hold numbers"),
    **dict.fromkeys(["datetime64", "timedelta64"], "use integers"),
    **dict.fromkeys(["longdouble", "clongdouble"], "use float64"),
    **dict.fromkeys(["byte", "short", "intc", "long", "longlong"], "use int8, int16, int32 or int64"),
    **dict.fromkeys(["ubyte", "ushort", "uintc", "ulong", "ulonglong"], "use uint8, uint16, uint32 or uint64"),
    **dict.fromkeys(["character", "flexible", "ScalarType", "sctypeDict"], "use dtype and isdtype"),
    **dict.fromkeys(["typecodes", "typename", "mintypecode"], "use dtype and isdtype"),
    **dict.fromkeys(["float_", "complex_"], "use float64 or complex128"),
    **dict.fromkeys(["True_", "False_"], "use True or False"),
    **dict.fromkeys(["int1", "uint1"], "use bool or int8"),
    **dict.fromkeys(
        ["format_float_positional", "format_float_scientific", "base_repr", "binary_repr"],
        "use NumPy's on the results; traced arrays hold numbers",
    ),
    **dict.fromkeys(
        [
            "busdaycalendar",
            "busday_count",
            "busday_offset",
            "datetime_as_string",
            "datetime_data",
            "is_busday",
            "isnat",
        ],
        "use NumPy's; traced dates are integers",
    ),
    **dict.fromkeys(["require", "isfortran", "little_endian"], "use NumPy's; memory layout belongs to the compiler"),
    **dict.fromkeys(
        ["getbufsize", "setbufsize", "get_include", "info", "show_config", "show_runtime", "test", "ComplexWarning"],
        "it is about NumPy itself: use NumPy's",
    ),
    **dict.fromkeys(["ctypeslib", "core", "f2py", "typing", "version", "dtypes"], "use NumPy's"),
    **dict.fromkeys(
        ["fromfile", "fromiter", "fromregex", "loadtxt", "genfromtxt", "load", "frombuffer", "fromstring"],
        "use NumPy's, then asarray",
    ),
    **dict.fromkeys(["savetxt", "save", "savez", "savez_compressed"], "use NumPy's on the results"),
    "frompyfunc": "use vectorize, whose function is traced",
    **dict.fromkeys(
        ["seterrcall", "geterrcall"],
        "use NumPy's; compiled code raises no floating-point warnings",
    ),
    **dict.fromkeys(["shares_memory", "may_share_memory"], "use NumPy's; memory layout belongs to the compiler"),
}
"""What to do instead, by name."""


NARROW_FLOATS = "use the dtype of that name in ml_dtypes; its arrays can be traced"


def raise_absent(name: str) -> NoReturn:
    """Raise the `AttributeError` for a name that `numhlo.numpy` lacks."""
    advice = {name: NARROW_FLOATS} if name.startswith(("float4_", "float6_", "float8_")) else ADVICE
    unsupported_names.raise_absent("numhlo.numpy", name, advice)
