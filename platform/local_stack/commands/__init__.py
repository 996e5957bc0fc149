"""What does a person ask of a stack, beside running it?

- `up`: start the service, and say where it is
- `status`, `log_view`: what runs, and what it wrote
- `doctor`: is this machine fit for Concertina?
- `managing`: run one of the service's own commands
- `quality`: run linters and tests
- `clean`: make the checkout as new
- `trouble`: what can keep the stack from starting, in words
"""
