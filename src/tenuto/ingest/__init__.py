"""Where a message enters, and where it is decided what to keep."""
