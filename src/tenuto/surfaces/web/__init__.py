"""The inspector page: server-rendered, small scripts of its own, nothing from elsewhere."""
