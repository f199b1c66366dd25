"""Putting what is kept into what a model should read now, within a budget."""
