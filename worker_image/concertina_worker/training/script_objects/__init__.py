"""What happens with the objects that a script hands over?

- `registration`: they are checked, then taken over
- `take_over`: when a scheduler, an average or an optimizer may move
- `warm_up`: how a worker gets warm, and finds out how much fits into its memory
"""
