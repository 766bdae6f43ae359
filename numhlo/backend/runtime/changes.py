"""How a run of a program says that it is to be done another way: `numhlo.backend.executable` raises and catches it."""


class OpsNeededError(Exception):
    """A program whose launches have no ops was to be run before all its kernels are there."""


class MachineCodeArrived(Exception):  # noqa: N818 - nothing went wrong
    """The kernel of the loop that is being evaluated in Python is compiled."""
