"""Agentic search: evidence for one question, collected under one token budget and a time limit.

plan (the question into retrieval steps) → discovery (ranked search) → navigation (the sections of the documents
found, level by level) → evidence (passages with citations). It finds and quotes; it answers nothing.
`engine.agentic.run.search_agentic` does all of it.
"""
