"""What should the workers do next?

- `deciding`: the questions after every event, the most urgent first
- `choice`: which workers should train next
"""
