"""How does the coordinator speak with workers and with the service?

- `server`: events reach the state machine, and instructions reach the workers
- `messages`: what a worker's message means, as an event
- `bounds`: which values a worker's message may have
- `synchronising`: when the coordinator speaks with the service
- `service`: how it reaches the service, by one HTTP call
- `held_call`: how it waits for the service's word, by one that is not answered at once
"""
