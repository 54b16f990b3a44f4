"""The scripts behind ./dev."""
