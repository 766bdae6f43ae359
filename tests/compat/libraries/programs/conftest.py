"""The programs need packages that tests do not have: `test_libraries` runs them in processes of their own."""

collect_ignore_glob = ["*_program.py"]
