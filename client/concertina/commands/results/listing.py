"""How is a group of commands told what to list, without a verb? By its name."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup


class ListingGroup(TyperGroup):
    """What is no command of the group is an argument of its `ls`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        is_command = args and (args[0] in self.commands or args[0].startswith("-"))
        return super().resolve_command(ctx, args if is_command else ["ls", *args])
