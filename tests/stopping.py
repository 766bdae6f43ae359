"""Signal handlers that raise in the middle of something, a given time after it began."""

import gc
import signal
import time


class StopError(Exception):
    """What the handler raises."""


def is_stopped(seconds, function, *args):
    """Return whether a handler's error, that many seconds after the call of a function began, ended the call.

    The timer is the one that limits the time of tests, which goes on afterwards. Another thread may be who gets the
    signal, and the handler late: nothing is raised by then, and it has run before the one that was there is back.
    What is raised while the collector calls somebody is lost, so it does not run.
    """
    armed = [True]

    def stop(*_):
        if armed:
            raise StopError

    collecting = gc.isenabled()
    gc.disable()
    before = signal.signal(signal.SIGALRM, stop)
    left, _ = signal.getitimer(signal.ITIMER_REAL)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        function(*args)
        armed.clear()
    except StopError:
        return True
    else:
        return False
    finally:
        armed.clear()
        signal.setitimer(signal.ITIMER_REAL, 0)
        time.sleep(1e-4)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, left)
        if collecting:
            gc.enable()
