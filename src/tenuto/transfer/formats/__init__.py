"""One module per format: ``recognise`` looks at names and first bytes, ``parse`` yields what it finds, in order."""
