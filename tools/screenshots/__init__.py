"""How does every page of the dashboard look? `make screenshots`, while a stack is up.

- `pages`: which pages there are, of what the stack has at this moment
- `camera`: a browser that keeps what they look like, in every size and theme
"""
