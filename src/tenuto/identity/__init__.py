"""Which person an address on a channel belongs to."""
