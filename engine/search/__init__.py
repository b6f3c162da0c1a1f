"""Search over what readers may see: `classic` ranked search, and the reads that other lookups build on.

Every read goes through `engine.search.active`, which keeps answers whole while documents are replaced.
"""
