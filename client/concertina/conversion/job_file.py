"""A job spec as a person would write it into a file: lines of a script as lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml


class _Dumper(yaml.SafeDumper):
    """A dumper that knows how a script is written, with tabs and blanks at the ends of lines."""

    def analyze_scalar(self, scalar: str) -> Any:
        analysis = super().analyze_scalar(scalar)
        if scalar.strip() and all(letter.isprintable() or letter in "\n\t" for letter in scalar):
            analysis.allow_block = True
        return analysis


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(
        "tag:yaml.org,2002:str", value, style="|" if "\n" in value else None
    )


_Dumper.add_representer(str, _text)


def written(spec: Mapping[str, Any]) -> str:
    """Return the YAML of a spec, its fields in the order in which they were set."""
    options: dict[str, Any] = {"Dumper": _Dumper, "sort_keys": False, "width": 100}
    text: str = yaml.dump(dict(spec), allow_unicode=True, **options)
    if all(letter.isprintable() or letter in "\n\t" for letter in text):
        return text
    escaped: str = yaml.dump(dict(spec), **options)  # what no eye sees is written by its number
    return escaped
