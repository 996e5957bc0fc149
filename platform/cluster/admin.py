"""How do admins manage pools and nodes in the browser?"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet, Sum
from django.forms import BaseInlineFormSet, ChoiceField, ModelForm
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe
from tenancy.models import Quota, Team
from tenancy.quota_rules import Setting, problem_of_second_team, total_promised

from autoscaler.installed_policies import installed_policies
from autoscaler.planning.policies import DEFAULT_POLICY, Catalogue
from cluster.models import Node, Pool, PrefetchedImage
from cluster.nodes.asking import last_events
from cluster.nodes.maintenance import Maintenance, maintain

if TYPE_CHECKING:  # Django's classes take parameters only in the stubs
    PoolAdminBase = admin.ModelAdmin[Pool]
    PoolFormBase = ModelForm[Pool]
    NodeFormBase = ModelForm[Node]
    NodeAdminBase = admin.ModelAdmin[Node]
    NodeInlineBase = admin.TabularInline[Node, Any]
    QuotaInlineBase = admin.TabularInline[Quota, Any]
    ImageInlineBase = admin.TabularInline[PrefetchedImage, Any]
    QuotaFormSetBase = BaseInlineFormSet[Quota, Pool, Any]
else:
    PoolFormBase = NodeFormBase = ModelForm
    PoolAdminBase = NodeAdminBase = admin.ModelAdmin
    NodeInlineBase = QuotaInlineBase = ImageInlineBase = admin.TabularInline
    QuotaFormSetBase = BaseInlineFormSet


class NodeForm(NodeFormBase):
    """Calls a node's URL what this installation's kind of worker hosts calls it."""

    class Meta:
        model = Node
        fields = "__all__"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kind = settings.CONCERTINA.worker_host
        if url := self.fields.get("host_url"):  # not there for those who may only look
            url.label, url.help_text = kind.node_url_name, kind.node_url_help


class NodeInline(NodeInlineBase):
    model = Node
    form = NodeForm
    extra = 0

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Only where nodes do not come from a cluster by themselves."""
        is_ours = not isinstance(obj, Pool) or not obj.follows
        return is_ours and super().has_add_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Likewise: one that its cluster has would be made again at once."""
        is_ours = not isinstance(obj, Pool) or not obj.follows
        return is_ours and super().has_delete_permission(request, obj)


class QuotaFormSet(QuotaFormSetBase):
    """Checks all guarantees of a pool together, as they would be after saving."""

    def clean(self) -> None:
        super().clean()
        rows = [form.cleaned_data for form in self.forms if getattr(form, "cleaned_data", None)]
        settings = {
            row["team"].name: Setting(guaranteed=row.get("guaranteed_gpus") or 0)
            for row in rows
            if row.get("team") and not row.get("DELETE")
        }
        self._check_teams(settings.keys())
        promised = total_promised(settings, Team.parents_by_name())
        gpus = self.instance.nodes.aggregate(all=Sum("gpus"))["all"] or 0
        if promised > gpus and not self.instance.follows:
            raise ValidationError(
                f"These guarantees add up to {promised} GPUs; the pool has {gpus}."
            )

    def _check_teams(self, teams: Collection[str]) -> None:
        """Refuse a second team of a pool for one; what was there before stays."""
        why = self.instance.why_for_one_team
        new = {form.cleaned_data["team"].name for form in self.forms if _has_new_team(form)}
        if not why or not (new := new & set(teams)):
            return
        busy = self.instance.teams_with_jobs if self.instance.pk else set()
        for team in sorted(new):
            found = problem_of_second_team(team, {*teams, *busy}, why_for_one_team=why)
            if found is not None:
                raise ValidationError(found.message)


def _has_new_team(form: Any) -> bool:
    is_named = bool(getattr(form, "cleaned_data", {}).get("team"))
    return is_named and "team" in form.changed_data


class PoolQuotaInline(QuotaInlineBase):
    model = Quota
    formset = QuotaFormSet
    extra = 0
    autocomplete_fields = ("team",)


class PrefetchedImageInline(ImageInlineBase):
    """Images that are fetched before any job of this pool names them."""

    model = PrefetchedImage
    extra = 0
    readonly_fields = ("now",)

    @admin.display(description="now")
    def now(self, row: PrefetchedImage) -> str:
        return "; ".join(f"{node}: {note or 'there'}" for node, note in sorted(row.notes.items()))


class PoolForm(PoolFormBase):
    """Offers every policy of this installation and says what each of its options means."""

    policy = ChoiceField()

    class Meta:
        model = Pool
        fields = "__all__"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        catalogue, policy = installed_policies(), self.fields["policy"]
        assert isinstance(policy, ChoiceField)  # noqa: S101 - declared above
        names = [*catalogue.names]
        if self.instance.policy not in names:
            names.append(self.instance.policy)
        policy.initial = DEFAULT_POLICY
        policy.choices = [(name, _summary(name, catalogue)) for name in names]
        policy.help_text = "What the planner makes the most of."
        self.fields["policy_options"].help_text = _explained(catalogue)


def _summary(name: str, catalogue: Catalogue) -> str:
    found = catalogue.policies.get(name)
    return f"{name}: {found.summary}" if found else f"{name}: not installed any more"


def _explained(catalogue: Catalogue) -> str:
    """One line for each option of each policy."""
    lines = format_html_join(
        mark_safe("<br>"),
        "<b>{}</b> of {}: {} Default {}.",
        (
            (option.name, name, option.explanation, option.default)
            for name in catalogue.names
            for option in catalogue.options(name)
        ),
    )
    example = 'What differs from the policy\'s defaults, such as {"margin": 0.2}.'
    return format_html("{}<br>{}", example, lines)


@admin.register(Pool)
class PoolAdmin(PoolAdminBase):
    """A pool with its nodes and with what each team is guaranteed of it."""

    form = PoolForm
    list_display = ("name", "gpu_type", "policy", "admission", "gpus", "guaranteed", "ray_selector")
    readonly_fields = ("following_note", "needs_a_node_since", "asking_note", "machines")
    search_fields = ("name",)
    inlines = (NodeInline, PoolQuotaInline, PrefetchedImageInline)

    def get_inlines(self, request: HttpRequest, obj: Pool | None = None) -> Any:
        """The rest comes second: a new pool first gets its nodes."""
        return super().get_inlines(request, obj) if obj else (NodeInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Pool]:
        return super().get_queryset(request).prefetch_related("nodes", "quotas")

    @admin.display(description="machines lately")
    def machines(self, pool: Pool) -> str:
        """Tell what was decided about machines that it asked for or gave back."""
        events = last_events([pool]).get(pool.name, ())
        lines = ((f"{one.at:%Y-%m-%d %H:%M} UTC", one.told) for one in events)
        return format_html_join(mark_safe("<br>"), "{}: {}", lines) or "none"

    @admin.display(description="GPUs")
    def gpus(self, pool: Pool) -> int:
        return sum(node.gpus for node in pool.nodes.all())

    @admin.display(description="guaranteed")
    def guaranteed(self, pool: Any) -> int:
        return sum(quota.guaranteed_gpus for quota in pool.quotas.all())


@admin.register(Node)
class NodeAdmin(NodeAdminBase):
    form = NodeForm
    list_display = (
        "name",
        "pool",
        "gpus",
        "address",
        "host_url",
        "is_schedulable",
        "is_draining",
        "silent_since",
    )
    readonly_fields = (
        "silent_since",
        "silent_reason",
        "leaving_because",
        "idle_since",
        "giving_back_since",
        "is_released",
        "is_unfit",
        "machine",
        "complaints",
    )
    list_filter = ("pool", "is_schedulable", "is_draining")
    list_select_related = ("pool",)
    search_fields = ("name", "address")
    actions = ("cordon", "drain", "uncordon")

    @admin.display(description="machine")
    def machine(self, node: Node) -> str:
        if node.memory_bytes is None:
            return "not known"
        return f"{node.memory_bytes / 2**30:.0f} GiB of memory, {node.cpus} CPUs"

    @admin.action(description="Cordon: place no new work on the selected nodes")
    def cordon(self, request: HttpRequest, chosen: QuerySet[Node]) -> None:
        self._maintain(request, chosen, Maintenance.CORDON, "take no new work")

    @admin.action(description="Drain: move running jobs away from the selected nodes")
    def drain(self, request: HttpRequest, chosen: QuerySet[Node]) -> None:
        self._maintain(request, chosen, Maintenance.DRAIN, "are being drained")

    @admin.action(description="Uncordon: place work on the selected nodes again")
    def uncordon(self, request: HttpRequest, chosen: QuerySet[Node]) -> None:
        self._maintain(request, chosen, Maintenance.UNCORDON, "take work again")

    def _maintain(
        self, request: HttpRequest, chosen: QuerySet[Node], what: Maintenance, said: str
    ) -> None:
        for name in chosen.values_list("name", flat=True):
            maintain(name, what)
        gpus = chosen.aggregate(all=Sum("gpus"))["all"] or 0
        self.message_user(request, f"{chosen.count()} nodes with {gpus} GPUs {said}.")
