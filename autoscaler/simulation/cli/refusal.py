"""What is said of a command line that cannot be carried out?"""

from __future__ import annotations


class RequestRefused(Exception):
    """The command line asks for something that cannot be simulated; the message says what to do."""
