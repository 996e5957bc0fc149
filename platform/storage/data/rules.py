"""Where may sources of data lie? Read with the settings, so nothing of Django is needed here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from storage.data.destinations import Destination


@dataclass(frozen=True, slots=True, kw_only=True)
class DataRules:
    """What an installation allows."""

    folders: tuple[Path, ...] = ()  # only what lies below one of them may be a source
    state_dir: Path  # the service's own, which no source may show
    are_nodes_here: bool = True  # False: nodes may see folders that the service does not
    cache_bytes: int = 100 << 30  # of what was fetched from object stores
    networks: tuple[Destination, ...] = ()  # not public, and stores are there all the same
    own: tuple[tuple[str, int], ...] = ()  # hosts and ports of the service: no stores
