"""Makes plans real: observe, plan, check, apply, every few seconds and whenever asked."""
