"""What users write, checked by mypy and pyright at their strict settings."""
