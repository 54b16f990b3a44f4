"""Offline repair: a plan first, always; then, when asked, a backup, a new file that the real reader accepts, and a rename."""
