"""Native against reference over generated and mutated streams: `python -m tests.differential --help`."""
