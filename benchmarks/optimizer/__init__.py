"""How fast is the exact optimizer? See `__main__`; `instances` are the pools that it plans."""
