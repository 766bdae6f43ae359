"""What moves between processes of a grid: collectives as compiled programs run them, and the transports.

`transport` says what a transport must do, and which one this thread uses; `collectives` what each op wants of it, in
terms of groups and parts of buffers; `reducers` how elements are combined. `threads` runs processes as threads of this
one, `mpi` joins processes of an MPI job. Rules of the interpreter, which these are compared with, are elsewhere:
`numhlo.lowering.process_grid`.
"""
