"""Keeps a retrieval corpus worth searching."""
