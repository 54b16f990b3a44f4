"""Programs that the tests start, and kill."""
