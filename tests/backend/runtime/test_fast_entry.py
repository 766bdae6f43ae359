"""The native entry's functions outlive what made them: at the end of the process, and in Python's hands."""

import pytest

from tests.backend.child import run_child

PROGRAM = """
    import builtins
    import contextvars
    import sys
    import threading
    import time
    import numpy as np
    import numhlo

    compiled = numhlo.jit(lambda x: x * 3.0 + 1.0, tier0=False)
    x = np.arange(5.0)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(x), x * 3.0 + 1.0)


    class Last:
        def __init__(self):
            self.compiled, self.x = compiled, x

        def __del__(self):
            for _ in range(3):
                self.compiled(self.x)


    def call_for_ever(compiled=compiled, x=x):
        while True:
            compiled(x)


"""
HOLDERS = {
    "a sleeping daemon thread": "threading.Thread(target=lambda held: time.sleep(60), args=[compiled], daemon=True)"
    ".start()",
    "a daemon thread that calls": "threading.Thread(target=call_for_ever, daemon=True).start()",
    "an exception hook": "sys.excepthook = lambda *error, held=compiled: print(held(x))",
    "a context variable": "contextvars.ContextVar('held').set(compiled)",
    "a module": "builtins.held = compiled",
    "an object that calls when it is freed": "builtins.held = last = Last(); last.itself = last",
    "a thread's own storage": "local = threading.local(); local.held = compiled; builtins.local = local",
    "a hook for errors that nobody catches": "sys.unraisablehook = lambda error, held=compiled: held(x)",
}
FREED_MEMORY_IS_OVERWRITTEN = {"MALLOC_PERTURB_": "2", "PYTHONMALLOC": "malloc"}


@pytest.mark.slow
@pytest.mark.parametrize("holder", HOLDERS)
def test_function_that_is_held_until_the_process_ends(holder):
    text = PROGRAM + f"    {HOLDERS[holder]}\n    print('done')\n"
    assert run_child(text, **FREED_MEMORY_IS_OVERWRITTEN) == "done\n"


def test_function_keeps_what_its_code_works_with():
    text = """
        import numpy as np
        from numhlo.backend.executable import Executable
        from tests.backend.hand_written import square_plus

        executable = Executable(square_plus(7))
        assert executable.wait(60)
        x = np.arange(7, dtype=np.float32)
        expected = executable([x])[0]
        function = executable.fast
        del executable
        for _ in range(20):
            np.testing.assert_array_equal(function(x)[0], expected)
        print("done")
    """
    assert run_child(text, **FREED_MEMORY_IS_OVERWRITTEN) == "done\n"
