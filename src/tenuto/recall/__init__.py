"""Finding the right few things: engines find, ranking decides, the gate lets through."""
