"""How fast earlier talk comes in, and what it costs."""
