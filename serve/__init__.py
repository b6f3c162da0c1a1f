"""Serve: the online upload and search API."""
