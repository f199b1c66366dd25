"""The rows of the scorecard, by what they are about."""
