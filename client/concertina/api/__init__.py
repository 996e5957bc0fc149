"""What does the API have? A method for each of its operations, for programs that block and others.

- `request`: one request as a value, which either transport sends
- `blocking`, `asynchronous`: the operations, written by `make openapi` from docs/openapi.yaml
- `answers`: what comes back that is more than a document
"""
