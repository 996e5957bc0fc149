"""What is a word that programs and people share? A code, and the sentence that explains it."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class CodedWord(StrEnum):
    """A code and its sentence, `label: what it means`."""

    sentence: str

    def __new__(cls, code: str, sentence: str = "") -> Self:  # the code alone: to look it up
        word = str.__new__(cls, code)
        word._value_ = code
        word.sentence = sentence
        return word

    @property
    def label(self) -> str:
        return self.sentence.partition(":")[0]

    @classmethod
    def choices(cls) -> list[tuple[str, str]]:
        """Return all of them as Django's fields take them."""
        return [(word.value, word.sentence) for word in cls]
