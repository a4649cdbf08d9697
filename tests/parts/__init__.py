"""Real parts that several areas of the tests use: brokers, subscribers, a browser."""
