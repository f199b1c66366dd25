"""The routes, by what they are about. Each parses, calls one verb and renders."""
