"""Benchmarks: each prints ratios against a bare baseline in the same run."""
