"""The fold, by the contract: each test body runs over the native engine and over the reference."""
