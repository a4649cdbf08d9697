"""The rule book of Novuss as pure functions over facts: `step(state, entry) -> (state, ruling)`.

No clock, no randomness, no I/O. Also the table's dimensions, sides and zones, because the rule book defines them.
"""
