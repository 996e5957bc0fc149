"""One worker of this benchmark: an example as it is."""

from __future__ import annotations

import argparse
import runpy
import sys


def main() -> None:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--example", required=True)
    known, rest = parser.parse_known_args()
    sys.argv = [known.example, *rest]
    runpy.run_path(known.example, run_name="__main__")


if __name__ == "__main__":
    main()
