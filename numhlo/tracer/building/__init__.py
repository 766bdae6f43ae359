"""The vocabulary that the library is written in."""
