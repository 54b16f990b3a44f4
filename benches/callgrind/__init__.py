"""Instruction counts of fixed inputs: what times on a shared machine cannot tell."""
