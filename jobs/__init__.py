"""Jobs: the command line, backfills and cluster submission. Thin over the engine."""
