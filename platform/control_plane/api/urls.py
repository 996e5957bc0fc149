"""Which address under /api/v1 leads where?"""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from django.urls import include, path, register_converter
from django.urls.converters import StringConverter
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.permissions import AllowAny
from sweeps import specs
from tenancy.models.retention_rule import KeptPart

from control_plane.api import (
    code,
    data_sources,
    health,
    installation_settings,
    notices,
    size_advice,
)
from control_plane.api.audit.endpoint import AuditView
from control_plane.api.cluster import gpus, leaving, nodes, policies, prefetched_images, usage
from control_plane.api.events.endpoint import EventFeedView, EventStreamView
from control_plane.api.job_rules import rules, templates
from control_plane.api.live import endpoint as live
from control_plane.api.logs import endpoint
from control_plane.api.people import (
    accepting,
    device_logins,
    invitations,
    own_password,
    personal_tokens,
    session,
    sign_in_methods,
)
from control_plane.api.replays import quota_previews, quota_prices
from control_plane.api.results import checkpoints, log_files, metrics, outputs, removals
from control_plane.api.schedules import endpoint as schedules
from control_plane.api.schema.view import SchemaView
from control_plane.api.setup import endpoint as setup
from control_plane.api.setup import single as objects
from control_plane.api.shells import endpoint as shells
from control_plane.api.sweeps import endpoint as sweeps
from control_plane.api.teams import (
    data,
    images,
    members,
    models,
    quotas,
    retention,
    secrets,
    storage,
    tokens,
)
from control_plane.api.ticks.endpoint import PricesView, TicksView, TickView
from control_plane.api.usage import gpu_prices, reports
from control_plane.api.usage.endpoint import GpuUsageView
from control_plane.api.usage.receipt import FairnessReceiptView
from control_plane.api.webhooks import endpoint as webhooks
from control_plane.configuration.limit_settings import LARGEST_BULK
from control_plane.front.counted_jobs import count_jobs
from control_plane.queries.look_ahead import look_ahead
from control_plane.queries.pool_capacities import read_pools
from control_plane.queries.visibility import sees_numbers_of
from control_plane.web.repeated.shared_reads import share
from jobs.api import explain, single
from jobs.api.collection import BulkView, JobsView, SparklinesView, ValidateView
from jobs.api.comparison import ComparisonView

_SPECS: Final[dict[str, Any]] = {
    "read_pools": read_pools,
    "largest_body": settings.CONCERTINA.limits.largest_spec_bytes,
}
_TOKENS: Final = {"longest_days": settings.CONCERTINA.limits.longest_token_days}


class Sha256Converter(StringConverter):
    regex = "[0-9a-f]{64}"


class ShellConverter(StringConverter):
    regex = "[0-9a-f]{32}"


class CheckpointConverter(StringConverter):
    regex = "(?:[0-9]{1,18}|latest|best)"


class KeptPartConverter(StringConverter):
    regex = "|".join(KeptPart)


register_converter(ShellConverter, "shell")
register_converter(Sha256Converter, "sha256")
register_converter(CheckpointConverter, "checkpoint")
register_converter(KeptPartConverter, "part")
urlpatterns = [
    path("session", session.SessionView.as_view()),
    path("session/password", own_password.OwnPasswordView.as_view()),
    path("sign-in-methods", sign_in_methods.SignInMethodsView.as_view()),
    path("personal-tokens", personal_tokens.PersonalTokensView.as_view(**_TOKENS)),
    path("personal-tokens/<int:token>", personal_tokens.PersonalTokenView.as_view()),
    path("device-logins", device_logins.DeviceLoginsView.as_view(**_TOKENS)),
    path("device-logins:poll", device_logins.PollView.as_view()),
    path("device-logins:redeem", device_logins.RedemptionView.as_view(**_TOKENS)),
    path("device-logins:look-up", device_logins.LookUpView.as_view()),
    path("device-logins:confirm", device_logins.ConfirmationView.as_view(**_TOKENS)),
    path("device-logins:refuse", device_logins.RefusalView.as_view()),
    path("jobs", JobsView.as_view(**_SPECS, share=share)),
    path(
        "jobs:bulk",
        BulkView.as_view(read_pools=read_pools, largest_body=LARGEST_BULK, count_jobs=count_jobs),
    ),
    path("jobs:compare", ComparisonView.as_view(share=share)),
    path("jobs:sparklines", SparklinesView.as_view(share=share)),
    path(
        "jobs:validate",
        ValidateView.as_view(
            **_SPECS, count_jobs=count_jobs, look_ahead=look_ahead, expand=specs.all_of
        ),
    ),
    path("", include("jobs.api.urls")),
    path(
        "jobs/<job:job_id>/explain",
        explain.ExplainView.as_view(sees_numbers_of=sees_numbers_of),
    ),
    path("jobs/<job:job_id>", single.JobView.as_view(**_SPECS)),
    path("jobs/<job:job_id>/rerun", single.RerunView.as_view(**_SPECS)),
    path("", include("autoscaler.simulation.api.rest.urls")),
    path("jobs/<job:job_id>/logs", endpoint.LogsView.as_view()),
    path("jobs/<job:job_id>/shells", shells.ShellsView.as_view()),
    path("jobs/<job:job_id>/shells/<shell:shell>/input", shells.ShellInputView.as_view()),
    path("jobs/<job:job_id>/logs/file", log_files.LogFileView.as_view()),
    path("live", live.LiveView.as_view()),
    path("events", EventFeedView.as_view()),
    path("events/stream", EventStreamView.as_view()),
    path("teams", objects.TeamsWithNewView.as_view()),
    path("teams/<slug:name>", objects.TeamWithEndView.as_view()),
    path("teams/<slug:name>/quotas", quotas.QuotasView.as_view()),
    path("teams/<slug:name>/quotas/<slug:pool>", objects.QuotaWithEndView.as_view()),
    path("quota-previews", quota_previews.QuotaPreviewsView.as_view()),
    path("quota-previews/<job:preview_id>", quota_previews.QuotaPreviewView.as_view()),
    path("quota-previews/<job:preview_id>/cancel", quota_previews.QuotaPreviewCancelView.as_view()),
    path("quota-prices", quota_prices.QuotaPricesView.as_view()),
    path("quota-prices/<job:price_id>", quota_prices.QuotaPriceView.as_view()),
    path("quota-prices/<job:price_id>/cancel", quota_prices.QuotaPriceCancelView.as_view()),
    path("teams/<slug:name>/standing", quotas.StandingView.as_view()),
    path("teams/<slug:name>/fairness-receipt", FairnessReceiptView.as_view()),
    path("teams/<slug:name>/storage", storage.TeamStorageView.as_view()),
    path("teams/<slug:name>/retention", retention.TeamRetentionView.as_view()),
    path("teams/<slug:name>/retention/<part:part>", retention.TeamKeptPartView.as_view()),
    path("teams/<slug:name>/members", members.MembersView.as_view()),
    path("teams/<slug:name>/members/<str:member>", members.MemberView.as_view()),
    path("teams/<slug:name>/invitations", invitations.InvitationsView.as_view()),
    path("teams/<slug:name>/invitations/<int:invitation>", invitations.InvitationView.as_view()),
    path("invitations:look-up", accepting.InvitationLookUpView.as_view()),
    path("invitations:accept", accepting.InvitationAcceptanceView.as_view()),
    path("invitations:join", accepting.InvitationJoiningView.as_view()),
    path("teams/<slug:name>/tokens", tokens.TokensView.as_view(**_TOKENS)),
    path("teams/<slug:name>/tokens/<int:token>", tokens.TokenView.as_view()),
    path(
        "teams/<slug:name>/tokens/<int:token>/rotate", tokens.TokenRotationView.as_view(**_TOKENS)
    ),
    path("sweeps", sweeps.SweepsView.as_view(**_SPECS, count_jobs=count_jobs)),
    path("sweeps/<job:sweep_id>", sweeps.SweepView.as_view()),
    path("sweeps/<job:sweep_id>/curves", sweeps.SweepCurvesView.as_view()),
    path("sweeps/<job:sweep_id>/cancel", sweeps.CancelSweepView.as_view()),
    path("teams/<slug:name>/schedules", schedules.SchedulesView.as_view(**_SPECS)),
    path(
        "teams/<slug:name>/schedules/<slug:schedule>",
        schedules.ScheduleView.as_view(**_SPECS),
    ),
    path(
        "teams/<slug:name>/schedules/<slug:schedule>/pause", schedules.PauseScheduleView.as_view()
    ),
    path(
        "teams/<slug:name>/schedules/<slug:schedule>/resume", schedules.ResumeScheduleView.as_view()
    ),
    path(
        "teams/<slug:name>/schedules/<slug:schedule>/run",
        schedules.RunScheduleView.as_view(**_SPECS, count_jobs=count_jobs),
    ),
    path("teams/<slug:name>/rules", rules.TeamRulesView.as_view()),
    path("teams/<slug:name>/templates", templates.TemplatesView.as_view()),
    path("teams/<slug:name>/templates/<slug:template>", templates.TemplateView.as_view()),
    path("teams/<slug:name>/secrets", secrets.SecretsView.as_view()),
    path("teams/<slug:name>/secrets/<str:secret>", secrets.SecretView.as_view()),
    path("teams/<slug:name>/code/<sha256:digest>", code.TeamCodeView.as_view()),
    path("teams/<slug:name>/data/<sha256:digest>", data.TeamDataView.as_view()),
    path("teams/<slug:name>/models", models.ModelsView.as_view()),
    path("teams/<slug:name>/models/<slug:model>", models.ModelView.as_view()),
    path("teams/<slug:name>/models/<slug:model>/versions", models.ModelVersionsView.as_view()),
    path(
        "teams/<slug:name>/models/<slug:model>/versions/<slug:version>",
        models.ModelVersionView.as_view(),
    ),
    path(
        "teams/<slug:name>/models/<slug:model>/versions/<slug:version>/weights",
        models.ModelWeightsView.as_view(),
    ),
    path(
        "teams/<slug:name>/models/<slug:model>/aliases/<slug:alias>",
        models.ModelAliasView.as_view(),
    ),
    path("jobs/<job:job_id>/advice", size_advice.SizeAdviceView.as_view()),
    path("jobs/<job:job_id>/code", code.JobCodeView.as_view()),
    path("jobs/<job:job_id>/outputs", outputs.OutputsView.as_view()),
    path("jobs/<job:job_id>/outputs/file", outputs.OutputFileView.as_view()),
    path("jobs/<job:job_id>/outputs/archive", outputs.OutputArchiveView.as_view()),
    path("jobs/<job:job_id>/removals", removals.JobRemovalsView.as_view()),
    path("jobs/<job:job_id>/metrics/table", metrics.MetricTableView.as_view()),
    path("jobs/<job:job_id>/checkpoints", checkpoints.CheckpointsView.as_view()),
    path("jobs/<job:job_id>/checkpoints/<checkpoint:step>", checkpoints.CheckpointView.as_view()),
    path(
        "jobs/<job:job_id>/checkpoints/<checkpoint:step>/weights",
        checkpoints.WeightsView.as_view(),
    ),
    path(
        "jobs/<job:job_id>/checkpoints/<checkpoint:step>/state",
        checkpoints.TrainingStateView.as_view(),
    ),
    path("teams/<slug:name>/images", images.TeamImagesView.as_view()),
    path("image-rules", images.ImageRulesView.as_view()),
    path("image-rules/<int:rule_id>", images.ImageRuleView.as_view()),
    path("data-sources", data_sources.DataSourcesView.as_view()),
    path("data-sources/<str:name>", data_sources.DataSourceView.as_view()),
    path("webhooks", webhooks.WebhooksView.as_view()),
    path("webhooks/<int:webhook>", webhooks.WebhookView.as_view()),
    path("webhooks/<int:webhook>/test", webhooks.WebhookTestView.as_view()),
    path("webhooks/<int:webhook>/deliveries", webhooks.DeliveriesView.as_view()),
    path("webhooks/<int:webhook>/deliveries/<uuid:delivery>/replay", webhooks.ReplayView.as_view()),
    path("pools", objects.PoolsWithNewView.as_view()),
    path("pools/<slug:name>", objects.PoolView.as_view()),
    path("policies", policies.PoliciesView.as_view()),
    path("prefetched-images", prefetched_images.PrefetchedImagesView.as_view()),
    path("prefetched-images/<int:number>", prefetched_images.PrefetchedImageView.as_view()),
    path("nodes", objects.NodesWithNewView.as_view()),
    path("nodes/<str:name>", objects.NodeView.as_view()),
    path("nodes/<str:name>/jobs", leaving.NodeJobsView.as_view()),
    path("nodes/<str:name>/cordon", nodes.CordonView.as_view()),
    path("nodes/<str:name>/drain", nodes.DrainView.as_view()),
    path("nodes/<str:name>/uncordon", nodes.UncordonView.as_view()),
    path("cluster/setup", setup.SetupView.as_view()),
    path("cluster/setup:preview", setup.SetupPreviewView.as_view()),
    path("cluster/setup:apply", setup.SetupApplyView.as_view()),
    path("cluster/gpus", gpus.GpuUseView.as_view()),
    path("cluster/utilisation", usage.UtilisationView.as_view()),
    path("cluster/summary", usage.SummaryView.as_view()),
    path("ticks", TicksView.as_view()),
    path("ticks/<int:number>", TickView.as_view()),
    path("cluster/prices", PricesView.as_view()),
    path("usage", GpuUsageView.as_view()),
    path("teams/<slug:name>/reports/<slug:month>", reports.TeamReportView.as_view()),
    path("reports/<slug:month>", reports.WholeReportView.as_view()),
    path("gpu-prices", gpu_prices.GpuPricesView.as_view()),
    path("gpu-prices/<slug:pool>/<slug:since>", gpu_prices.GpuPriceView.as_view()),
    path("audit", AuditView.as_view()),
    path("settings", installation_settings.InstallationSettingsView.as_view()),
    path("notices", notices.NoticesView.as_view()),
    path("health", health.HealthView.as_view()),
    path(
        "schema",
        SchemaView.as_view(permission_classes=[AllowAny]),
        name="schema",
    ),
    path(
        "docs",
        SpectacularSwaggerSplitView.as_view(url_name="schema", permission_classes=[AllowAny]),
    ),
]
