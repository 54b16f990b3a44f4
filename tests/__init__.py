"""The tests: one body for both engines, cases that are data files, the engines compared with each other."""
