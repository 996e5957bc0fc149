"""What is a number of GPUs worth to a job? Policies answer: small objects, one chosen per pool.

policy              what a policy may decide: start here
completion_time     short mean completion time, and nobody at zero
throughput          the most work per second
scaling_efficiency  growth while it scales
utility_cost        growth while it pays
baselines           those that serve to compare others with
---
built_in            all of these, as a list
options             what an admin may set
catalogue           policies by name, and in the text form that admins, traces and commands share
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
