"""Does the database contradict itself? One sentence for each thing that must hold and does not.

Reads only and changes nothing, so that it may be run at any time, also beside a running control
loop: all of it sees one moment. Ends with 1 if something was found, else with 0.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import connection, transaction

from autoscaler.control_loop.consistency import contradictions


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--json", action="store_true", help='print {"contradictions": [...]} for programs'
        )

    def handle(self, *_: Any, **options: Any) -> None:
        with _one_moment():
            found = contradictions()
        if options["json"]:
            self.stdout.write(json.dumps({"contradictions": found}))
        else:
            self.stdout.write("\n".join(found) or "Nothing contradicts anything else.")
        if found:
            sys.exit(1)


@contextmanager
def _one_moment() -> Iterator[None]:
    """Between two queries the loop would move on: what is true at each moment would look wrong."""
    is_ours = not connection.in_atomic_block  # a caller's transaction has begun to read already
    with transaction.atomic():
        if is_ours:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
