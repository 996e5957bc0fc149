"""How does a command speak to the person at the terminal?

- `session`: a terminal to write to, a client to ask, and one way to fail
- `written`: how a result is written for programs
- `reporting`: how a running job is shown to whoever waits for it
- `bar`: how far something large is
- `harmless`: what of a text that somebody else wrote may reach a terminal
"""
