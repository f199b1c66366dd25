"""Text in, values out: cleaning what a caller gives, and the words that search sees."""
