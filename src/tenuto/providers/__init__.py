"""What the core is given from outside: clocks and ids, embedders, token counters, models, vaults."""
