"""`python -m concertina`: the command line, where its script is not on the PATH."""

from __future__ import annotations

import sys

_OF_THE_COMMAND_LINE = {"pathspec", "rich", "typer", "yaml"}


def main() -> None:
    """Run the command line, or tell what it needs beside the client."""
    try:
        from concertina.main import main as run  # noqa: PLC0415 - it may be missing
    except ModuleNotFoundError as missing:
        if missing.name not in _OF_THE_COMMAND_LINE:
            raise
        sys.exit(
            f"The command line needs {missing.name}, which the client alone does without. "
            "Install both: pip install 'concertina-client[cli]'"
        )
    run()


if __name__ == "__main__":
    main()
