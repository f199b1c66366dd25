"""What a candidate does to what is known: pure decisions."""
