"""The HTTP surface: parse, call one verb, render."""
