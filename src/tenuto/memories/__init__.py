"""The direct verbs on what is kept: remember, change, list."""
