"""What do admins see of jobs in the browser? They only read; the API changes jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.html import format_html
from django.utils.safestring import SafeString
from tenancy.admin import TeamAdmin
from tenancy.models import Team

from jobs.commands.removal import team_deletion
from jobs.errors import TeamInUse
from jobs.models import Event, Generation, Job, PastUsage, Quarantine, Worker

if TYPE_CHECKING:  # Django's classes take parameters only in the stubs
    JobAdminBase = admin.ModelAdmin[Job]
    PastUsageAdminBase = admin.ModelAdmin[PastUsage]
    EventInlineBase = admin.TabularInline[Event, Any]
    GenerationInlineBase = admin.TabularInline[Generation, Any]
    QuarantineInlineBase = admin.TabularInline[Quarantine, Any]
    WorkerInlineBase = admin.TabularInline[Worker, Any]
else:
    JobAdminBase = PastUsageAdminBase = admin.ModelAdmin
    EventInlineBase = GenerationInlineBase = WorkerInlineBase = admin.TabularInline
    QuarantineInlineBase = admin.TabularInline


class _ReadOnly:
    """No form of the admin may change a job: its state moves by guarded transitions only."""

    extra = 0
    can_delete = False

    def has_add_permission(self, *_: object) -> bool:
        return False

    def has_change_permission(self, *_: object) -> bool:
        return False

    def has_delete_permission(self, *_: object) -> bool:
        return False


class EventInline(_ReadOnly, EventInlineBase):
    model = Event
    fields = ("at", "kind", "old_state", "new_state", "reason", "message")
    readonly_fields = fields


class GenerationInline(_ReadOnly, GenerationInlineBase):
    model = Generation
    fields = ("number", "workers", "global_batch_size", "reason", "began_at", "stall_seconds")
    readonly_fields = fields


class WorkerInline(_ReadOnly, WorkerInlineBase):
    model = Worker
    fields = ("id", "phase", "node", "attempt", "created_at", "gone_at", "exit_code")
    readonly_fields = fields


class QuarantineInline(_ReadOnly, QuarantineInlineBase):
    model = Quarantine
    fields = ("part", "since", "failures", "retry_at", "error")
    readonly_fields = fields


class TeamWithJobsAdmin(TeamAdmin):
    """A team is deleted with its jobs, once none of them lives; the page before tells all of it."""

    def get_deleted_objects(
        self,
        objs: Any,
        request: HttpRequest,  # noqa: ARG002 - Django's signature
    ) -> Any:
        """Return what would go, how much, which permissions are missing, and what prevents it."""
        teams = list(objs)
        lines: list[Any] = []
        for team in teams:
            lines += [f"Team: {team}", team_deletion.contents(team)]
        against = [reason for team in teams for reason in team_deletion.reasons_against(team)]
        return lines, {"teams": len(teams)}, set(), against

    def delete_view(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        """Delete as Django does, and show on the page what has come up since the page before."""
        try:
            return super().delete_view(request, *args, **options)
        except TeamInUse as error:
            return self._refused(request, error)

    def changelist_view(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        """Show the list as Django does, whose action may delete many teams."""
        try:
            return super().changelist_view(request, *args, **options)
        except TeamInUse as error:
            return self._refused(request, error)

    def _refused(self, request: HttpRequest, error: TeamInUse) -> HttpResponse:
        self.message_user(request, str(error), messages.ERROR)
        return HttpResponseRedirect(request.get_full_path())

    def delete_model(self, request: HttpRequest, obj: Team) -> None:  # noqa: ARG002 - as above
        team_deletion.delete_team(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Team]) -> None:
        for team in queryset:
            self.delete_model(request, team)


admin.site.unregister(Team)
admin.site.register(Team, TeamWithJobsAdmin)


@admin.register(PastUsage)
class PastUsageAdmin(_ReadOnly, PastUsageAdminBase):
    """GPU time of jobs that were removed."""

    list_display = ("hour", "team", "pool", "jobs", "gpu_seconds")
    list_filter = ("team", "pool")


@admin.register(Job)
class JobAdmin(_ReadOnly, JobAdminBase):
    list_display = ("name", "team", "pool", "state", "reason", "priority", "submitted_at", "page")
    list_filter = ("state", "team", "pool", "mode")
    list_select_related = ("team", "pool")
    search_fields = ("name", "id", "submitted_by")
    date_hierarchy = "submitted_at"
    inlines = (QuarantineInline, GenerationInline, WorkerInline, EventInline)

    @admin.display(description="dashboard")
    def page(self, job: Job) -> SafeString:
        return format_html('<a href="/jobs/{}">{}</a>', job.id, job.id)

    def has_view_permission(self, request: HttpRequest, obj: Job | None = None) -> bool:
        return super().has_view_permission(request, obj)
