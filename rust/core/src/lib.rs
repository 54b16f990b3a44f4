//! The core of deltafold: server-sent events in, exact tool calls out; no Python, no I/O.
