"""What is a number of GPUs worth to a job? Policies answer: small objects, one chosen per pool.

Start at `policy.Policy`, which says what a policy may decide; each policy is a module of its own,
and those that serve to compare others with are in `baselines`. `built_in` lists them all, `options`
says what an admin may set. `catalogue` knows them by name, and reads the text form that admins,
traces and commands share.
"""

from autoscaler.planning.policies.built_in import BUILT_IN, DEFAULT_POLICY
from autoscaler.planning.policies.catalogue import Catalogue, PolicyRefused, text_of
from autoscaler.planning.policies.options import Option, OptionRefused, option
from autoscaler.planning.policies.policy import (
    NOT_WANTED,
    Objective,
    Policy,
    Situation,
    Sizes,
    Values,
    up_to,
)

__all__ = [
    "BUILT_IN",
    "DEFAULT_POLICY",
    "NOT_WANTED",
    "Catalogue",
    "Objective",
    "Option",
    "OptionRefused",
    "Policy",
    "PolicyRefused",
    "Situation",
    "Sizes",
    "Values",
    "option",
    "text_of",
    "up_to",
]
