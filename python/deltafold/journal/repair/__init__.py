"""Offline repair: a plan first, always.

Then, when asked, a backup, a new file that the real reader accepts, and a rename.
"""
