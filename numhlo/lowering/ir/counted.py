"""A number with the name of what is counted, as messages and descriptions spell it."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number and a noun, in the singular or the plural.

    Parameters
    ----------
    number : int
    one : str
        The noun in the singular.
    many : str, optional
        In the plural, where that isn't the singular and an s.

    Returns
    -------
    str

    Examples
    --------
    >>> counted(1, "kernel"), counted(0, "kernel"), counted(2, "entry", "entries")
    ('1 kernel', '0 kernels', '2 entries')
    """
    return f"{number} {one if number == 1 else many or one + 's'}"
