"""Which field of the job spec did somebody mean? The one that looks most alike, at any level."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from typing import Final, get_args

from pydantic import BaseModel

_WORD: Final = re.compile(r"[a-z]+")
_SAYS_NOTHING: Final = frozenset({"count", "n", "number", "num", "of", "per", "the", "total"})
_VERY_LIKE: Final = 0.8  # of difflib's ratio; both guessed by trying
_LIKE: Final = 0.7

Path = tuple[str, ...]


def nearest(path: Sequence[int | str], model: type[BaseModel]) -> Path | None:
    """Return the field of `model` that a wrong path was most likely meant to name.

    Fields beside it come first: `elastic.min` is `elastic.min_workers`. Then, at any level, a field
    of that name, one that has all its words, one that looks alike, and one that is a part of it:
    `gpus` is `resources.gpus_per_worker`, `docker_image` is `image`. A word amid a name says too
    little of it: `gpus` is not `budget_gpu_hours`.
    """
    *above, last = (str(part).lower() for part in path if isinstance(part, str))
    known = list(paths_of(model))
    beside = [one for one in known if one[:-1] == tuple(above)]
    return (
        _with_words(last, beside)
        or _alike(last, beside, _VERY_LIKE)
        or _with_words(last, known)
        or _alike(last, known, _LIKE)
        or _part_of(last, known)
    )


def paths_of(model: type[BaseModel], above: Path = ()) -> Iterator[Path]:
    """Return every field of a model and of the models in it."""
    for name, field in model.model_fields.items():
        yield (*above, name)
        inner = _model_in(field.annotation)
        if inner is not None:
            yield from paths_of(inner, (*above, name))


def _model_in(annotation: object) -> type[BaseModel] | None:
    """Return the model that a field holds, itself or as a choice; lists do not count."""
    choices = get_args(annotation) or (annotation,)
    models = (one for one in choices if isinstance(one, type) and issubclass(one, BaseModel))
    is_list = isinstance(annotation, type(list[int]))
    return None if is_list else next(models, None)


def _with_words(name: str, among: Sequence[Path]) -> Path | None:
    words = _words(name)
    found = [path for path in among if words and words <= _words(path[-1])]
    found = [path for path in found if words & _outer_words(path[-1])]
    fewest = min((len(_words(path[-1])) for path in found), default=0)
    shortest = [path for path in found if len(_words(path[-1])) == fewest]
    return max(shortest, key=lambda path: _likeness(name, path), default=None)


def _alike(name: str, among: Sequence[Path], least: float) -> Path | None:
    found = max(among, key=lambda path: _likeness(name, path), default=None)
    return found if found and _likeness(name, found) >= least else None


def _part_of(name: str, among: Sequence[Path]) -> Path | None:
    return next((path for path in among if frozenset() < _words(path[-1]) <= _words(name)), None)


def _likeness(name: str, path: Path) -> float:
    return difflib.SequenceMatcher(None, name, path[-1]).ratio()


def _outer_words(name: str) -> frozenset[str]:
    """Return its first and its last word."""
    words = _WORD.findall(name)
    return _words(words[0]) | _words(words[-1])


def _words(name: str) -> frozenset[str]:
    """Return a name's words in the singular, without those that say nothing."""
    return frozenset(word.removesuffix("s") for word in _WORD.findall(name)) - _SAYS_NOTHING
