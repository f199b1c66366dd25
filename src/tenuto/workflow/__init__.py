"""Typed work whose state only validated code may change."""
