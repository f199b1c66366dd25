"""Sealing, erasing, auditing, retention."""
