"""What does the library offer to scripts that keep their own loop? Standard library only.

- `data`: where what the job was given lies
- `results`: where to put what is to be handed over
- `telling`: how to say how far the script is
"""
