"""Where things lie in the blocks of int64 words that the runtime and native code share.

Constants only. They are part of every kernel's fingerprint; whoever moves a word moves it for both sides.
"""

from __future__ import annotations

WORD = 8

# A call's context: what `ctx` points to.
STATUS = 0  # 0 while all is well
INTERRUPT = 1  # address of the word that is set when the user asks to stop
LIBRARY = 2  # address of the table of library functions
BUFFERS = 3  # address of the frame's table of buffer addresses
GATHER = 4  # address of where a launch's buffer addresses are put together
POOL = 5  # address of the thread pool's block
LAUNCHER = 6  # address of the kernel that runs launches on the pool, or 0
NEXT_FRAME = 7  # address of the next free context of the same executable, or 0
BLAS_HELD = 8  # 1 while this call holds BLAS to one thread
EXCEPTION = 9  # three words: type, value and traceback of what a signal handler raised, or 0
ARENA = 12  # where the buffers in the arena were put last: its first byte
LOOKS = 13  # how often loops looked for signals before anybody listened
CLOCK_SECONDS, CLOCK_NANOSECONDS = 14, 15  # where the clock writes what time it is
CONTEXT_WORDS = 16

# Free arenas of one size: a list that native code takes from, and one that Python adds.
ARENAS_FREE, ARENAS_OFFERED = 0, 1  # addresses, or 0
ARENAS_WORDS = 2
ARENA_NEXT = 0  # of an arena's own words: the next free one's address, or 0
ARENA_HEADER = 64  # bytes before those that a program uses

# The table of library functions.
SGEMM, DGEMM, CGEMM, ZGEMM = 0, 1, 2, 3
SYSCALL = 4  # of libc, for futex
MUTEX_LOCK, MUTEX_UNLOCK, CONDITION_WAIT, CONDITION_BROADCAST = 5, 6, 7, 8  # pthread_..., where there is no futex
BLAS_GET_THREADS, BLAS_SET_THREADS = 9, 10
MEMCPY = 11
THREAD_SELF = 12  # pthread_self
PYTHON_API = 13  # address of the table of Python's and NumPy's functions
INTERRUPT_BLOCK = 14  # address of the interrupt flag's block
ATTEND = 15  # native code that lets Python attend to signals, or 0
ATTEND_LOOK, ATTEND_LISTEN, ATTEND_LOWER, ATTEND_STOP = 0, 1, 2, 3  # what it is to do
CLOCK = 16  # `clock_gettime`, or 0
LIBRARY_WORDS = 17

# A step of the flattened program: an operation code and what belongs to it.
STEP_WORDS = 12
OPCODE = 0
DO_LAUNCH, DO_EVALUATE, DO_JUMP, DO_JUMP_UNLESS, DO_SWITCH, DO_EXCHANGE, DO_REPEAT, DO_END = 0, 1, 2, 3, 4, 5, 6, 7
DO_HOLD_BLAS, DO_RELEASE_BLAS, DO_COPY = 8, 9, 10
DO_ADVANCE, DO_LEAVE_UNLESS_BELOW = 11, 12  # launches of which the driver knows that they only count
LAUNCH_KERNEL, LAUNCH_NUMBERS, LAUNCH_COUNT, LAUNCH_DIMS, LAUNCH_EXTENT, LAUNCH_GRAIN = 1, 2, 3, 4, 5, 6
LAUNCH_SPAN = 7  # units of some 20 ms: between two of them the user may ask to stop
LAUNCH_TURN = 8  # launches that go before its next trial, or minus those of the trial that are done
LAUNCH_SCORE, LAUNCH_PAUSE = 9, 10  # how trials went; launches between the last two
LAUNCH_SHARED_TIME = 11  # nanoseconds, of the trial that runs
JUMP_TARGET = 1  # of jump and repeat
UNLESS_BUFFER, UNLESS_TARGET = 1, 2
SWITCH_BUFFER, SWITCH_BYTES, SWITCH_COUNT, SWITCH_TARGETS = 1, 2, 3, 4
EXCHANGE_FIRST, EXCHANGE_SECOND = 1, 2
COPY_SOURCE, COPY_TARGET, COPY_BYTES = 1, 2, 3
COUNTER, COUNTER_BYTES = 2, 3  # word 1 is that of the launch's kernel: both engines count, or neither
ADVANCED, ADVANCED_BY = 4, 5
BELOW_LIMIT, BELOW_TARGET = 4, 5
DONE = -1  # what the driver returns at the end

# Statuses. Kernels may set any positive number.
OK = 0
INTERRUPTED = -1  # at the end of a round of a loop: the call can go on
CUT_SHORT = -2  # a kernel stopped in the middle because the user asked to
ROUNDS_LEFT = "rounds_left"  # what kernels call the rounds that they go before they look whether the user asked
FORKED = -4  # a signal handler forked in the middle of it, and other threads were at work: this is the child
RAISED = -3  # a signal handler raised; the exception is set, or in the words `EXCEPTION`

# The thread pool's block; what different threads write often is on different cache lines.
POOL_OWNED = 0  # 1 while a call owns the pool
POOL_WORKERS = 1  # threads that are there to help
POOL_LIMIT = 2  # threads that a launch may use, the caller included
POOL_STOP = 3
POOL_MODE = 4  # number of the futex system call, or 0: mutex and condition
POOL_SPINS = 5  # how often a waiting thread looks before it sleeps
POOL_OVERRIDES, POOL_OVERRIDE_TABLE = 6, 7  # how many threads have a limit of their own; (thread, limit) pairs
JOB_KERNEL, JOB_CTX, JOB_BUFS, JOB_DIMS, JOB_EXTENT, JOB_CHUNK, JOB_LIMIT = 8, 9, 10, 11, 12, 13, 14
POOL_CLOCK = 15  # which clock `clock_gettime` reads
POOL_GENERATION = 16  # counts jobs; workers sleep on it
POOL_SLEEPERS = 17
JOB_NEXT = 24  # first unit that nobody has taken
JOB_STATE = 32  # threads inside the job, plus JOB_OPEN while more may come; the owner sleeps on it
POOL_OWNER_SLEEPS = 33
BLAS_LOCK, BLAS_HOLDERS, BLAS_THREADS = 40, 41, 42
POOL_MUTEX = 48  # 64 bytes
POOL_CONDITION = 56  # 64 bytes
OWNER_CONDITION = 64  # 64 bytes
POOL_BLOCK_WORDS = 80
JOB_OPEN = 1 << 20

# Python objects of CPython with a GIL, in words (halves in 32-bit units); checked at start-up.
OBJECT_TYPE = 1
ARRAY_DATA, ARRAY_NDIM_HALF, ARRAY_SHAPE, ARRAY_BASE, ARRAY_DESCR, ARRAY_FLAGS_HALF = 2, 6, 4, 6, 7, 16
SCALAR_FLAGS = (
    0x0503  # of an array without dimensions in the memory of another: contiguous both ways, aligned, writable
)
TUPLE_SIZE, TUPLE_ITEMS = 2, 3
CELL_CONTENT = 2
SCALAR_VALUE = 2  # of NumPy's scalars, and Python's float and complex

# What the fast entry knows about an executable: the data of the array that is its `self`.
ENTRY_ARGUMENTS, ENTRY_RESULTS = 0, 1  # how many
ENTRY_TYPE, ENTRY_SUBTYPE = 2, 3  # accepted type objects; results are of the second
ENTRY_FRAME = 4  # address of the first free context, or 0
ENTRY_DRIVER, ENTRY_TABLE = 5, 6
ENTRY_RELEASES_GIL = 7
ENTRY_ARGUMENT_RECORDS, ENTRY_RESULT_RECORDS = 8, 9
ENTRY_API = 10  # address of the table of Python's and NumPy's functions
ENTRY_FLAG = 13  # address of the interrupt flag's block if a call may take long, else 0
ENTRY_CLEAN_UP = 11  # step that releases what a failed call holds
ENTRY_POOL = 12  # address of the thread pool's block if the program uses it, else 0
ENTRY_WRITTEN = 14  # how many arguments the program writes into
ENTRY_ARENAS = 15  # address of the list of free arenas of the program's size, or 0 if it needs none
ENTRY_ARENA_BUFFERS = 16  # address of pairs: number and offset of each buffer in the arena
ENTRY_ARENA_COUNT = 17
ENTRY_OFFERED_FRAME = 18  # address of a context that Python adds to the free ones, or 0
ENTRY_ROUTE = 19  # in the words of a route: address of the executable's own words, where this is 0
ENTRY_KEPT_FLAGS = 20  # of results: the bits of their flags that stay as NumPy sets them
ENTRY_WORDS = 24
# A route's words: how the arguments of one signature give those of the executable.
ROUTE_ARGUMENTS = 20  # how many positional ones
ROUTE_NODES, ROUTE_NODE_COUNT = 21, 22  # address of NODE_WORDS for each tuple and leaf, in order
ROUTE_LEAVES = 23  # how many
ROUTE_SCALARS = 24  # address of pairs, one a leaf: class of the scalar that it may be (or 0), and how it is read
ROUTE_CAPTURES, ROUTE_CAPTURE_COUNT = 25, 26  # address of captured arrays' addresses, which follow the leaves
ROUTE_GUARDS, ROUTE_GUARD_COUNT = 28, 29  # address of GUARD_WORDS for each object that must hold what it held
ROUTE_SELF = 30  # address of the array whose data these words are
ROUTE_OWNER = 31  # address of the object that keeps them and the executable alive; 0 where Python makes the call
ROUTE_KIND = 32  # what becomes of the results
ROUTE_FINISH, ROUTE_RAISE = 33, 34  # callables: for results of any other kind, and for the status of a failure
ROUTE_CALLS = 35  # how many were made without Python
ROUTE_WORDS = 36
GIVES_RESULT, GIVES_NONE, GIVES_TUPLE, GIVES_OTHER = 0, 1, 2, 3  # the only result, nothing, all of them, any structure
ROUTE_MOST = 256  # tuples, leaves and captures of a route
NODE_HOLDER, NODE_POSITION, NODE_SIZE = 0, 1, 2  # number of the tuple that it is in, where, and its own length or -1
NODE_WORDS = 3
GUARD_HOLDER, GUARD_KEY, GUARD_VALUE = 0, 1, 2  # a dict and a key, or the address of a word and 0; what is there
GUARD_WORDS = 3
READ_IN_PLACE, READ_INTEGER, READ_TRUTH, READ_OR_ARRAY = 0, 1, 2, 3  # the last: in place, or from an array
RECORD_DESCR, RECORD_NDIM, RECORD_SHAPE, RECORD_BUFFER, RECORD_FLAGS = 0, 1, 2, 3, 4
RECORD_BYTES = 5  # that an array takes
RECORD_WRITTEN = 6  # 1 for an argument that the program writes into
RECORD_PLACE = 7  # of a result in the block that it shares with others, or -1: it has memory of its own
RECORD_BLOCK = 8  # address of the size of the block that begins with this result, or 0
RECORD_WORDS = 10
API_NEW_ARRAY, API_INCREF, API_DECREF, API_NEW_TUPLE = 0, 1, 2, 3
API_ALLOCATE = 4  # `PyType_GenericAlloc`
API_SAVE_THREAD, API_RESTORE_THREAD, API_NONE, API_FROM_INTEGER = 5, 6, 7, 8
API_THREAD_IDENT, API_CHECK_SIGNALS, API_SEEK, API_WRITE = 9, 10, 11, 12
API_SET_WAKEUP = 13  # the object `signal.set_wakeup_fd`
API_CALL, API_AS_INTEGER, API_CLEAR_ERROR = 14, 15, 16
API_HOLD_GIL, API_RELEASE_GIL, API_FETCH_ERROR, API_RESTORE_ERROR = 17, 18, 19, 20
API_AS_LONG, API_OCCURRED, API_TRUE, API_TUPLE = 21, 22, 23, 24  # the last two are objects
API_GET_ITEM = 25  # of a dict; a borrowed reference
API_BYTE = 26  # the dtype uint8
API_VECTORCALL = 27
API_WORDS = 32

# What native code knows about a jitted function: the data of an array that the function's first slot holds.
CALLER_SLOT = 2  # of the function, in words
CALLER_CALLS = 0  # address of what all jitted functions have in common
CALLER_ROUTE = 1  # address of the words of the route that calls try first, or 0
CALLS_API, CALLS_ENTRY, CALLS_PYTHON = 0, 1, 2  # functions: Python's, the entry, and what makes calls in Python
CALLS_UNSETTLED = 3  # address of the number of bindings that calls must look at
CALLS_WORDS = 4
SET_USED = 3  # of a set: how many elements

# The interrupt flag's block: see `numhlo.backend.runtime.interrupt`.
FLAG_ADDRESS = 0  # of the word that is not 0 once a signal has arrived
FLAG_FILE = 1  # its file descriptor, or -1
FLAG_DEPTH = 2  # calls that listen now
FLAG_BEFORE = 3  # the file descriptor that listened before them
FLAG_MAIN_THREAD = 4
FLAG_NEVER = 5  # a word that stays 0
FLAG_FILE_OBJECT, FLAG_BEFORE_OBJECT = 6, 7  # addresses of Python integers: the file descriptor, and the one before
FLAG_EARLY = 8  # a word that is never 0: what loops look at until the call listens
FLAG_WORDS = 9
