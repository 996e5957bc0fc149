"""Which policies are there, and which one does a text mean?

One text form for admins, traces and commands: the name, and options where they differ from the
defaults, as in `completion_time`, `fixed_batch:batch=min` or `scaling_efficiency:threshold=0.2`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, is_dataclass
from typing import Self

from autoscaler.planning.policies.options import Option, OptionRefused, hints_of, options_of
from autoscaler.planning.policies.policy import Policy


class PolicyRefused(ValueError):
    """A text that means no policy of this installation, or one with options it cannot take."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Policies by name."""

    policies: Mapping[str, type[Policy]]

    @classmethod
    def of(cls, policies: Iterable[type[Policy]]) -> Self:
        """A catalogue of policies that can be used.

        Raises:
            PolicyRefused: one of them is no policy.
        """
        return cls({_checked(policy).name: policy for policy in policies})

    def joined(self, others: Iterable[type[Policy]]) -> Catalogue:
        """Add policies from elsewhere; none of them may replace one that is there.

        Raises:
            PolicyRefused: one of them is no policy, or has the name of another.
        """
        added = self.policies
        for policy in others:
            if _checked(policy).name in added:
                raise PolicyRefused(f"There is a policy {policy.name} already.")
            added = {**added, policy.name: policy}
        return Catalogue(added)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.policies)

    def options(self, name: str) -> tuple[Option, ...]:
        return options_of(self._named(name))

    def policy(self, text: str) -> Policy:
        """The policy that a text such as `scaling_efficiency:threshold=0.2` means.

        Raises:
            PolicyRefused: there is none of that name, or an option is wrong.
        """
        name, _, settings = text.partition(":")
        pairs = [setting.partition("=") for setting in filter(None, settings.split(","))]
        return self.made(name.strip(), {key.strip(): value.strip() for key, _, value in pairs})

    def made(self, name: str, settings: Mapping[str, object]) -> Policy:
        """The policy of that name with these options; what is not given is as by default.

        Raises:
            PolicyRefused: there is none of that name, or an option is wrong.
        """
        policy = self._named(name)
        known = {one.name: one for one in options_of(policy)}
        unknown = [key for key in settings if key not in known]
        if unknown:
            has = f"its options are {', '.join(known)}" if known else "it has no options"
            raise PolicyRefused(f"Policy {name} has no option {unknown[0]!r}: {has}.")
        try:
            values = {key: known[key].read(value) for key, value in settings.items()}
            hints = hints_of(policy)
            return policy(**{key: hints[key](value) for key, value in values.items()})
        except OptionRefused as problem:
            raise PolicyRefused(f"Policy {name}, option {problem}") from problem

    def _named(self, name: str) -> type[Policy]:
        if name not in self.policies:
            known = ", ".join(self.names)
            raise PolicyRefused(f"There is no policy {name!r}: use one of {known}.")
        return self.policies[name]


def text_of(name: str, settings: Mapping[str, object]) -> str:
    """The text form of a policy with options; `Catalogue.policy` reads it back."""
    pairs = ",".join(f"{key}={value}" for key, value in settings.items())
    return f"{name}:{pairs}" if pairs else name


def _checked(policy: type[Policy]) -> type[Policy]:
    if not (isinstance(policy, type) and issubclass(policy, Policy) and is_dataclass(policy)):
        raise PolicyRefused(f"{policy!r} is not a dataclass that inherits from Policy.")
    for word in ("name", "summary"):
        if not isinstance(getattr(policy, word, None), str):
            raise PolicyRefused(f"{policy!r} has no {word}.")
    if hasattr(policy, "seen"):  # else what it narrows would be lost without a word
        raise PolicyRefused(f"{policy!r} has a method `seen`: it is called `restrict` now.")
    return policy
