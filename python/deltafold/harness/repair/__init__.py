"""Repair of session logs.

A plan first, then, when asked, a swap that leaves either the old file or the new one.
"""
