"""Who uses the platform, and what may they use?

`Team` and `Membership` say who they are, `Token` how their programs get in, and `PersonalToken`
how people do without a password, for which a command line asks by a `DeviceLogin`.
`ProviderIdentity` is who an identity provider says that somebody is, and an `Invitation` lets
somebody into a team. A team owns `Secret`s; `ImageRule` says what its jobs may run, `reachable`
which hosts they may call, `RetentionRule` how long what they leave is kept, `TeamLimits` how many
of them may run and how many GPU-hours they have in a month, `Quota` how many GPUs of a pool it may
hold, a `QuotaVersion` how many it might then, and `FairShareSettings` how what is idle is shared
out, by the `DecayedUsage` of each. `AuditEntry` says who did what,
and a `SetupVersion` what was set up then.
"""

from tenancy.models.fair_share import DecayedUsage, FairShareSettings
from tenancy.models.image_rule import ImageRule
from tenancy.models.limits import TeamLimits, limits_of
from tenancy.models.past.audit_entry import AuditEntry, AuditOutcome, AuditRepeats, AuditSenderKind
from tenancy.models.past.setup_version import SetupVersion
from tenancy.models.people.identity import ProviderIdentity
from tenancy.models.people.invitation import Invitation
from tenancy.models.quota import (
    Quota,
    QuotaVersion,
    first_known_quota,
    quotas_at,
    settings_of_pool,
)
from tenancy.models.retention_rule import RetentionRule
from tenancy.models.secret import Secret
from tenancy.models.slug import slug_validator
from tenancy.models.team import Membership, Team
from tenancy.models.token import DeviceLogin, PersonalToken, Token, TokenScope, TokenState

__all__ = [
    "AuditEntry",
    "AuditOutcome",
    "AuditRepeats",
    "AuditSenderKind",
    "DecayedUsage",
    "DeviceLogin",
    "FairShareSettings",
    "ImageRule",
    "Invitation",
    "Membership",
    "PersonalToken",
    "ProviderIdentity",
    "Quota",
    "QuotaVersion",
    "RetentionRule",
    "Secret",
    "SetupVersion",
    "Team",
    "TeamLimits",
    "Token",
    "TokenScope",
    "TokenState",
    "first_known_quota",
    "limits_of",
    "quotas_at",
    "settings_of_pool",
    "slug_validator",
]
