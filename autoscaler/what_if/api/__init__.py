"""The addresses under /api/v1/simulations."""
