"""Everything of a user going out as one file, and years of earlier talk coming in."""
