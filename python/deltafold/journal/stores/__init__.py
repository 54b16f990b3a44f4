"""Where sessions lie: directories under a root, or a PostgreSQL database."""
