"""What happens with the objects that a script hands over?

- `registration`: they are checked, then taken over
- `take_over`: when a scheduler, an average or an optimizer may move
- `sharding`: whether a model of which each worker holds a part may be trained so
- `warm_up`: how a worker gets warm, and finds out how much fits into its memory
"""
