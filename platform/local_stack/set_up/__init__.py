"""How does a fresh checkout become one that runs? With the standard library only."""
