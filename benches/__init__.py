"""Measurements of the fold, and the stream shapes that the tests share with them."""
