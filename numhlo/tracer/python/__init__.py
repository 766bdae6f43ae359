"""What lets functions trace that only say ``import numpy as np``, and what notices that a global has changed since.

Begin with `plain_numpy`. Rewriting ``if`` and ``while`` is `autograph`.
"""
