"""How many operands special functions take: all that is known of each before its formulas are loaded."""

ARITY = {
    **dict.fromkeys(["beta", "betaln", "expn", "igamma", "igamma_slope", "igammac", "polygamma", "zeta"], 2),
    "betainc": 3,
}
"""How many operands a function takes, where that is not one."""
