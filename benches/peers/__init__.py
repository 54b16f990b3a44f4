"""The libraries that people assemble streams with today, measured from the same bytes."""
