"""The rewriter of the user's source: reads a function's definition, and compiles the code that is traced in its place.

It knows syntax trees and code objects. What rewritten code calls is in `autograph` and `plain_numpy`.
"""
