"""What if what is up cannot be written down? The stack runs on, and it is written when it can be.

A full disk passes; a supervisor that ended of it would take the whole service along.
"""

from __future__ import annotations

from collections.abc import Callable

from local_stack import stack_record
from local_stack.checkout import Checkout
from local_stack.stack_record import StackPhase, StackRecord


class NoteKeeper:
    """Keeps the stack's record; tells a person when it cannot, and when it can again."""

    def __init__(self, checkout: Checkout, *, say: Callable[[str], None]) -> None:
        self._checkout = checkout
        self._say = say
        self.is_behind = False  # the record on the disk is older than the last one noted

    def note(self, record: StackRecord) -> None:
        """Write the record, or remain behind.

        Raises:
            OSError: it cannot be written while the stack starts, which then had better not.
        """
        try:
            stack_record.write(self._checkout, record)
        except OSError as trouble:
            if record.phase is StackPhase.STARTING:
                raise
            if not self.is_behind:
                self._say(f"The stack runs on, but its record cannot be written: {trouble}")
            self.is_behind = True
            return
        if self.is_behind:
            self._say(f"{stack_record.path(self._checkout)} can be written again.")
        self.is_behind = False
