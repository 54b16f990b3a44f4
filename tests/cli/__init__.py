"""The command, as a person and as a program sees it."""
