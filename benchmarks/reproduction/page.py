"""The page docs/reproduction.md: an introduction, the verdicts, and a section per experiment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.reproduction.document import Section, claims_table, filled, paragraphs, reasons
from benchmarks.reproduction.experiments import founding_paper
from benchmarks.reproduction.scale import Scale


def write(sections: Sequence[Section], scale: Scale, *, folder: Path) -> None:
    """Write the page and its pictures below a folder."""
    images = folder / "images" / "reproduction"
    images.mkdir(parents=True, exist_ok=True)
    for section in sections:
        for name, picture in section.pictures.items():
            (images / f"{name}.svg").write_text(picture.document(), encoding="utf-8")
    (folder / "reproduction.md").write_text(_page(sections, scale), encoding="utf-8")


def _page(sections: Sequence[Section], scale: Scale) -> str:
    twice, ten = founding_paper.ABOUT_TWICE, founding_paper.ABOUT_TEN
    parts = [filled("introduction", scale=scale.name, twice=f"{twice:g}", ten=f"{ten:g}")]
    for number, section in enumerate(sections, start=1):
        parts += [
            f"## {number}. {section.title}",
            claims_table(section.claims) if section.claims else "",
            reasons(section.claims),
            section.text,
        ]
    return paragraphs(*parts) + "\n"
