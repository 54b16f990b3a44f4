"""Streamed answers of language models, folded to exact tool calls."""
