"""What does a set-up look like in JSON? Each field with its bounds; what is left out stays."""

from __future__ import annotations

from typing import Any, Final

from cluster.following.asking import LARGEST_WORTH
from cluster.following.labels import LONGEST_VALUE
from cluster.models import Node, Pool
from cluster.models.all_reduce import MOST_POINTS
from rest_framework import serializers
from tenancy.image_names import LONGEST
from tenancy.models import FairShareSettings, Quota, Team
from tenancy.models.fair_share import LONGEST_RECLAIM, SHORTEST_RECLAIM
from tenancy.models.reachable import MOST_LISTED, check_listed

from control_plane.api.job_rules.documents import (
    AllowedWordsField,
    BoundsField,
    LabelRulesField,
    PartialSpecField,
)
from control_plane.api.setup.fields import (
    NamedObjectsField,
    PatternField,
    check_node_name,
    check_slug,
)
from control_plane.api.teams.limits import TeamLimitsSerializer
from control_plane.setup.objects import MOST_OBJECTS, SetupKind
from control_plane.setup.stored import FAIR_SHARE_FIELDS, FIELDS
from jobs.api.requests import KnownFieldsMixin
from jobs.models import JobTemplate

_MOST_IMAGES: Final = 1000
_MOST_GPUS: Final = 1024  # of a node
_LARGEST: Final = 1e9  # of weights, prices and times, which have no natural bound
_LONGEST_NAME: Final = 40


def _amount(help_text: str, *, least: float = 0.0, most: float = _LARGEST) -> Any:
    return serializers.FloatField(
        min_value=least, max_value=most, required=False, help_text=help_text
    )


class FairShareSetupSerializer(KnownFieldsMixin, serializers.ModelSerializer[FairShareSettings]):
    """How idle GPUs of a pool are shared out, and come back."""

    half_life_hours = _amount("After so many hours, usage of the past counts half.", least=0.01)
    usage_weight = _amount("How much it counts against a team's weight. 0: not at all.")
    reclaim_delay_seconds = _amount("A claim waits so long for GPUs that become free.")
    reclaim_min_runtime_seconds = _amount("A borrower that runs for less is only shrunk.")
    reclaim_seconds = _amount(
        "What is taken back for another team's guarantee is free after so long.",
        least=SHORTEST_RECLAIM,
        most=LONGEST_RECLAIM,
    )

    class Meta:
        model = FairShareSettings
        fields = FAIR_SHARE_FIELDS


class NodeSetupSerializer(KnownFieldsMixin, serializers.ModelSerializer[Node]):
    """A machine. A new one takes work; cordoning and draining it are not part of the set-up."""

    gpus = serializers.IntegerField(
        min_value=1, max_value=_MOST_GPUS, required=False, help_text="Needed for a new node."
    )
    gpu_uuids = serializers.ListField(
        child=serializers.CharField(max_length=100),
        max_length=_MOST_GPUS,
        required=False,
        help_text="By index; empty: processes are given GPUs by their numbers.",
    )

    class Meta:
        model = Node
        fields = FIELDS[SetupKind.NODE]


class PoolSetupSerializer(KnownFieldsMixin, serializers.ModelSerializer[Pool]):
    """GPUs of one type, planned together."""

    policy_options = serializers.DictField(
        required=False, help_text="What differs from the policy's defaults."
    )
    dollars_per_gpu_hour = _amount("What policies about money reckon with.")
    all_reduce = serializers.ListField(
        child=serializers.DictField(),
        max_length=MOST_POINTS,
        required=False,
        help_text="Measured times of an all-reduce.",
    )
    ray_selector = serializers.DictField(
        child=serializers.CharField(max_length=LONGEST_VALUE),
        required=False,
        help_text="Labels of machines of the Ray cluster: its nodes are made from those that bear"
        " all of them. Empty: its nodes are those that are named here.",
    )
    worth_a_node = serializers.FloatField(
        min_value=0.0,
        max_value=LARGEST_WORTH,
        required=False,
        allow_null=True,
        help_text="A machine is asked for where one more GPU would add more. Null: only for jobs.",
    )
    fair_share = FairShareSetupSerializer(required=False)
    prefetched_images = serializers.ListField(
        child=serializers.CharField(max_length=255, allow_blank=True),
        max_length=_MOST_IMAGES,
        required=False,
        help_text="Fetched to its nodes before any job names them; blank: the worker image.",
    )
    nodes = NamedObjectsField(
        child=NodeSetupSerializer(), check_name=check_node_name, most=MOST_OBJECTS, required=False
    )

    class Meta:
        model = Pool
        fields = (*FIELDS[SetupKind.POOL], "fair_share", "prefetched_images", "nodes")


class QuotaSetupSerializer(KnownFieldsMixin, serializers.ModelSerializer[Quota]):
    """What a team may use of a pool."""

    over_quota_weight = _amount("Share of idle GPUs beyond the guarantee, relative to others.")

    class Meta:
        model = Quota
        fields = FIELDS[SetupKind.QUOTA]


class TeamLimitsSetupSerializer(KnownFieldsMixin, TeamLimitsSerializer):
    """Limits of a team as a whole; null: no limit."""


class TeamRulesSetupSerializer(KnownFieldsMixin, serializers.Serializer[Any]):
    """What a team says of the specs of its jobs, as at `change_team_rules`."""

    defaults = PartialSpecField(required=False)
    bounds = BoundsField(required=False)
    labels = LabelRulesField(required=False)
    pools = AllowedWordsField(required=False, allow_null=True, help_text="Null: all.")
    modes = AllowedWordsField(required=False, allow_null=True, help_text="Null: all.")
    is_locked = serializers.BooleanField(required=False)


class TemplateSetupSerializer(KnownFieldsMixin, serializers.ModelSerializer[JobTemplate]):
    """A part of a job spec with a name."""

    spec = PartialSpecField(required=False, help_text="Needed for a new template.")

    class Meta:
        model = JobTemplate
        fields = FIELDS[SetupKind.TEMPLATE]


class TeamSetupSerializer(KnownFieldsMixin, serializers.ModelSerializer[Team]):
    """A team, with what it may use. Its people, tokens and secrets are not part of the set-up."""

    parent = serializers.CharField(  # type: ignore[assignment]  # DRF takes it off
        max_length=_LONGEST_NAME,
        allow_null=True,
        required=False,
        help_text="The team above it; null: none.",
    )
    reachable = serializers.ListField(
        child=serializers.CharField(max_length=260),
        max_length=MOST_LISTED,
        required=False,
        validators=[check_listed],
        help_text="Hosts with ports that jobs reach with `network: listed`, as `pypi.org:443`.",
    )
    limits = TeamLimitsSetupSerializer(required=False)
    quotas = NamedObjectsField(
        child=QuotaSetupSerializer(),
        check_name=check_slug,
        most=MOST_OBJECTS,
        required=False,
        help_text="By the name of the pool.",
    )
    images = serializers.ListField(
        child=PatternField(),
        max_length=_MOST_IMAGES,
        required=False,
        help_text="Patterns of images that its jobs may run; * stands for any characters.",
    )

    rules = TeamRulesSetupSerializer(required=False)
    templates = NamedObjectsField(
        child=TemplateSetupSerializer(), check_name=check_slug, most=MOST_OBJECTS, required=False
    )

    class Meta:
        model = Team
        fields = (
            *("parent", *FIELDS[SetupKind.TEAM], "limits", "rules", "quotas", "images"),
            "templates",
        )


class SetupSerializer(KnownFieldsMixin, serializers.Serializer[Any]):
    """All that admins set up. Objects and fields that are left out stay as they are."""

    pools = NamedObjectsField(
        child=PoolSetupSerializer(), check_name=check_slug, most=MOST_OBJECTS, required=False
    )
    teams = NamedObjectsField(
        child=TeamSetupSerializer(), check_name=check_slug, most=MOST_OBJECTS, required=False
    )
    images = serializers.ListField(
        child=PatternField(max_length=LONGEST),
        max_length=_MOST_IMAGES,
        required=False,
        help_text="Patterns of images that everybody's jobs may run.",
    )


class WholeSetupSerializer(serializers.Serializer[Any]):
    """The set-up, and its version: another one whenever something is different."""

    version = serializers.CharField()
    setup = SetupSerializer()


class SetupBodySerializer(serializers.Serializer[Any]):
    """A set-up as it is wanted."""

    setup = SetupSerializer()
    prune = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Remove what the document leaves out of a group that it names: of `pools`,"
        " `teams`, `images`, and of a pool's `nodes`, say. Otherwise that stays.",
    )
