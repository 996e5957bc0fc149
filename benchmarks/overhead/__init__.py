"""What does the elastic runtime cost in each step? See `__main__`; `training` is what runs."""
