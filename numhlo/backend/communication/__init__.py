"""What moves between processes of a grid: collectives as programs run them, and the transports.

`transport` says what a transport must do, and which one this thread uses; `collectives` what each op wants of it, in
terms of groups and parts of buffers; `reducers` how elements are combined; `operations` runs ops. `threads` runs
processes as threads of this one, `mpi` joins processes of an MPI job. The rules that these are compared with are
elsewhere: `numhlo.lowering.process_grid`.
"""
