"""Fuzzing of everything that takes bytes from outside: `make fuzz` for minutes each, a fixed few hundred inputs each in the tests."""
