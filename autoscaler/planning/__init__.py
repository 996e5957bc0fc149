"""How many GPUs should every job have now, and why? Pure: values in, a plan out."""
