"""One typed method per verb, the jobs behind them, and the worker that runs jobs."""
