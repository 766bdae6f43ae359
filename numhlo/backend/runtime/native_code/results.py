"""New arrays for the results of a call. Kernel source.

Most of what NumPy does for a small array is to find memory and the subclass's methods. Many results without dimensions
share the memory of one array, which all of them hold, and are laid out here, as NumPy lays out views
(`numhlo.backend.runtime.object_layout` has compared).
"""

from numhlo.backend.primitives import call_function, load_i32, load_i64, store_i32, store_i64, to_i32
from numhlo.backend.primitives.layout import (
    API_ALLOCATE,
    API_BYTE,
    API_DECREF,
    API_INCREF,
    API_NEW_ARRAY,
    API_NEW_TUPLE,
    ARRAY_BASE,
    ARRAY_DATA,
    ARRAY_DESCR,
    ARRAY_FLAGS_HALF,
    ENTRY_KEPT_FLAGS,
    ENTRY_RESULT_RECORDS,
    ENTRY_RESULTS,
    ENTRY_SUBTYPE,
    ENTRY_TYPE,
    RECORD_BLOCK,
    RECORD_BUFFER,
    RECORD_DESCR,
    RECORD_NDIM,
    RECORD_PLACE,
    RECORD_SHAPE,
    RECORD_WORDS,
    SCALAR_FLAGS,
    TUPLE_ITEMS,
    WORD,
)
from numhlo.backend.vector_math.jitable import jitable


@jitable
def new_array(api, kind, descr, ndim, shape):
    """Return a new array with memory of its own, or 0 with an exception set."""
    call_function(load_i64(api, API_INCREF), descr)
    return call_function(load_i64(api, API_NEW_ARRAY), kind, descr, ndim, shape, 0, 0, 0, 0)


@jitable
def scalar_within(api, kind, descr, owner, offset):
    """Return a new array without dimensions in the memory of another one, or 0 with an exception set."""
    array = call_function(load_i64(api, API_ALLOCATE), kind, 0)
    if array != 0:  # words that are not set here are 0, as they should be
        call_function(load_i64(api, API_INCREF), descr)
        call_function(load_i64(api, API_INCREF), owner)
        store_i64(array, ARRAY_DATA, load_i64(owner, ARRAY_DATA) + offset)
        store_i64(array, ARRAY_BASE, owner)
        store_i64(array, ARRAY_DESCR, descr)
        store_i32(array, ARRAY_FLAGS_HALF, to_i32(SCALAR_FLAGS))
    return array


@jitable
def drop(api, thing):
    """Give up a reference, if there is a thing."""
    if thing != 0:
        call_function(load_i64(api, API_DECREF), thing)


@jitable
def make_results(block, api, buffers):
    """Return a tuple of new arrays, whose addresses are put into the frame's table, or 0 with an exception set."""
    count = load_i64(block, ENTRY_RESULTS)
    kind, kept = load_i64(block, ENTRY_SUBTYPE), load_i64(block, ENTRY_KEPT_FLAGS)
    made = call_function(load_i64(api, API_NEW_TUPLE), count)
    record = load_i64(block, ENTRY_RESULT_RECORDS)
    owner = 0
    k = 0
    while k < count and made != 0:
        descr = load_i64(record, RECORD_DESCR)
        begun = load_i64(record, RECORD_BLOCK)
        if begun != 0:
            drop(api, owner)
            owner = new_array(api, load_i64(block, ENTRY_TYPE), load_i64(api, API_BYTE), 1, begun)
        place = load_i64(record, RECORD_PLACE)
        if place < 0:
            array = new_array(api, kind, descr, load_i64(record, RECORD_NDIM), load_i64(record, RECORD_SHAPE))
        elif owner != 0:
            array = scalar_within(api, kind, descr, owner, place)
        else:
            array = 0
        if array == 0:
            drop(api, made)
            made = 0
        else:
            store_i32(array, ARRAY_FLAGS_HALF, to_i32(load_i32(array, ARRAY_FLAGS_HALF) & kept))
            store_i64(made, TUPLE_ITEMS + k, array)
            store_i64(buffers, load_i64(record, RECORD_BUFFER), load_i64(array, ARRAY_DATA))
            record += RECORD_WORDS * WORD
            k += 1
    drop(api, owner)
    return made
