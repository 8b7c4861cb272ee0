"""Measurements of the index: lexical ranking, loading, filtered search, generations."""
