"""Where everything is kept: one SQL store with two dialects, and a fake in memory that keeps the same contract."""
