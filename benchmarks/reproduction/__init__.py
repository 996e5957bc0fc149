"""The experiments behind docs/reproduction.md; `make reproduce` runs them all."""
