"""A call of a jitted function without Python: what its ``__call__`` does, where its first route takes the arguments.

Kernel source, called by the interpreter as ``PyObject *call(PyObject *self, PyObject *const *args, Py_ssize_t count,
PyObject *names)`` with the GIL held. Whatever the route declines, Python does.
"""

from numhlo.backend.primitives import call_function, load_i64, store_i64
from numhlo.backend.primitives.layout import (
    API_CALL,
    API_DECREF,
    API_INCREF,
    API_NEW_TUPLE,
    API_NONE,
    API_TUPLE,
    API_VECTORCALL,
    ARRAY_DATA,
    CALLER_CALLS,
    CALLER_ROUTE,
    CALLER_SLOT,
    CALLS_API,
    CALLS_ENTRY,
    CALLS_PYTHON,
    CALLS_UNSETTLED,
    GIVES_NONE,
    GIVES_RESULT,
    GIVES_TUPLE,
    OBJECT_TYPE,
    ROUTE_CALLS,
    ROUTE_FINISH,
    ROUTE_KIND,
    ROUTE_OWNER,
    ROUTE_RAISE,
    ROUTE_SELF,
    TUPLE_ITEMS,
    TUPLE_SIZE,
    WORD,
)
from numhlo.backend.vector_math.jitable import jitable


@jitable
def put(api, items, place, thing):
    """Put an object into a new tuple."""
    call_function(load_i64(api, API_INCREF), thing)
    store_i64(items, place, thing)


@jitable
def call_python(api, python, function, arguments, count, names):
    """Return what Python makes of the call: a function with the jitted one as its first argument."""
    call = load_i64(api, API_VECTORCALL)
    if arguments != 0 and load_i64(arguments, -1) == function:  # as it is where this was called as a method
        return call_function(call, python, arguments - WORD, count + 1, names)
    total = count
    if names != 0:
        total += load_i64(names, TUPLE_SIZE)
    holder = call_function(load_i64(api, API_NEW_TUPLE), total + 1)
    if holder == 0:
        return 0
    items = holder + TUPLE_ITEMS * WORD
    put(api, items, 0, function)
    for k in range(total):
        put(api, items, k + 1, load_i64(arguments, k))
    made = call_function(call, python, items, count + 1, names)
    call_function(load_i64(api, API_DECREF), holder)
    return made


@jitable
def finished(route, api, made):
    """Return what the function returns, of a tuple of results, which is given away."""
    kind = load_i64(route, ROUTE_KIND)
    if kind == GIVES_TUPLE:
        return made
    if kind == GIVES_RESULT:
        found = load_i64(made, TUPLE_ITEMS)
        call_function(load_i64(api, API_INCREF), found)
    elif kind == GIVES_NONE:
        found = load_i64(api, API_NONE)
        call_function(load_i64(api, API_INCREF), found)
    else:
        found = call_function(load_i64(api, API_CALL), load_i64(route, ROUTE_FINISH), made)
    call_function(load_i64(api, API_DECREF), made)
    return found


@jitable
def call_route(calls, api, route, function, arguments, count):
    """Return what the call gives, made by a route, or by Python if that declines; the route stays alive meanwhile."""
    owner = load_i64(route, ROUTE_OWNER)
    call_function(load_i64(api, API_INCREF), owner)
    made = call_function(load_i64(calls, CALLS_ENTRY), load_i64(route, ROUTE_SELF), arguments, count, 0, 0)
    if made == load_i64(api, API_NONE):
        call_function(load_i64(api, API_DECREF), made)
        made = call_python(api, load_i64(calls, CALLS_PYTHON), function, arguments, count, 0)
    elif made != 0 and load_i64(made, OBJECT_TYPE) == load_i64(api, API_TUPLE):
        store_i64(route, ROUTE_CALLS, load_i64(route, ROUTE_CALLS) + 1)
        made = finished(route, api, made)
    elif made != 0:
        status = made
        made = call_function(load_i64(api, API_CALL), load_i64(route, ROUTE_RAISE), status)
        call_function(load_i64(api, API_DECREF), status)
    call_function(load_i64(api, API_DECREF), owner)
    return made


def call(ctx, bufs, dims, lo, hi):
    """Return the function's result, or 0 with an exception set."""
    caller = load_i64(ctx, CALLER_SLOT)
    if caller == 0:
        return 0
    words = load_i64(caller, ARRAY_DATA)
    calls, route = load_i64(words, CALLER_CALLS), load_i64(words, CALLER_ROUTE)
    api = load_i64(calls, CALLS_API)
    if route != 0 and lo == 0 and load_i64(load_i64(calls, CALLS_UNSETTLED), 0) == 0:
        return call_route(calls, api, route, ctx, bufs, dims)
    return call_python(api, load_i64(calls, CALLS_PYTHON), ctx, bufs, dims, lo)
