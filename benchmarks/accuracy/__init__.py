"""Does training come out the same with another batch, or with other workers? See `__main__`."""
