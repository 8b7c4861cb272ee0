"""Search against judged questions."""
