"""Corpus engine: from a file's bytes to cited search results. Knows neither HTTP nor the command line."""
