"""Python's `if`, `while` and `for` on traced values, rewritten into control flow.

`rewriting` makes functions of the code that `source` rewrites, which calls `staging` where Python would branch or loop;
`staging` does what Python does as long as conditions are known, and builds `cond`, `while_loop` and `fori_loop` where
they are not.
"""
