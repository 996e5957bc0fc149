"""Which operations does the API have?

Written by `make openapi` from docs/openapi.yaml.

A method is named as the operation is. Parameters of its address come first, then its body; others
are named. What takes an `idempotency_key` is done once, however often a connection breaks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

from concertina.api.request import ApiRequest, as_version, one_key, segment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import date, datetime

    from concertina.api.answers import BlockingSender, ServerEvent, StreamedResponse
    from concertina.documents import (
        AuditPage,
        Comparison,
        Credentials,
        DataSource,
        DataSourceBody,
        DataSourceList,
        Delivery,
        DeliveryList,
        DeviceCodeBody,
        DeviceLogin,
        DeviceLoginState,
        EventList,
        Explanation,
        FairnessReceipt,
        FeedPage,
        GenerationList,
        GpuPrice,
        GpuPriceBody,
        GpuPriceList,
        GpuUsage,
        GpuUseList,
        Health,
        ImageRule,
        ImageRuleList,
        InstallationSettingList,
        InvitationBody,
        InvitationKeyBody,
        InvitationList,
        JobArray,
        JobArrayPage,
        JobChanges,
        JobDependencies,
        JobDetail,
        JobPage,
        JobRemovals,
        JobSpec,
        JoinedTeam,
        KeptCheckpoint,
        KeptCheckpoints,
        KeptPart,
        Leaving,
        LogLineList,
        MadeInvitation,
        MadePersonalToken,
        MadeToken,
        MadeWebhook,
        Member,
        MemberBody,
        MemberList,
        MetricList,
        ModelAliasBody,
        ModelList,
        ModelVersion,
        ModelVersionBody,
        ModelVersionDetail,
        MonthReport,
        NewAccountBody,
        NewNode,
        NewPasswordBody,
        NewPool,
        NewTeam,
        NodePage,
        NodeService,
        NoticeList,
        OpenInvitation,
        OutputList,
        PatchedChangedNode,
        PatchedPoolSetup,
        PatchedQuotaChange,
        PatchedRetentionBody,
        PatchedRoleBody,
        PatchedRulesBody,
        PatchedScheduleChangeBody,
        PatchedTeamChange,
        PatchedTemplateChangeBody,
        PatchedWebhookChangeBody,
        PersonalTokenBody,
        PersonalTokenList,
        PolicyList,
        PoolList,
        PrefetchedImage,
        PrefetchedImageList,
        Prices,
        QuotaChange,
        QuotaList,
        QuotaPreview,
        QuotaPreviewRequest,
        QuotaPrice,
        QuotaPriceRequest,
        ReasonBody,
        RotationBody,
        ScheduleBody,
        ScheduleDetail,
        ScheduleList,
        ScheduleRun,
        Secret,
        SecretBody,
        SecretList,
        Session,
        SetupBody,
        SetupOutcome,
        ShellBody,
        ShellInputBody,
        SignInMethods,
        SimulationDetail,
        SimulationList,
        SimulationRequest,
        SizeAdvice,
        SparklineList,
        StandingList,
        StartedDeviceLogin,
        SteeredArray,
        SubmittedJob,
        SubmittedJobs,
        Summary,
        SweepCurves,
        SweepDetail,
        SweepPage,
        TeamChange,
        TeamDetail,
        TeamImages,
        TeamList,
        TeamRetention,
        TeamRules,
        TeamStorage,
        Template,
        TemplateBody,
        TemplateList,
        TickDetail,
        TickPage,
        TokenBody,
        TokenList,
        Upload,
        Usage,
        UserCodeBody,
        Utilisation,
        Validation,
        Webhook,
        WebhookBody,
        WebhookList,
        WholeMonthReport,
        WholeSetup,
        WorkerList,
    )
    from concertina.vocabulary import DeliveryState, EventKind


class BlockingApi:
    """Each method returns when the answer is here."""

    def __init__(self, sender: BlockingSender) -> None:
        self._sender = sender

    def accept_invitation(self, body: InvitationKeyBody) -> JoinedTeam:
        """Become a member by an invitation.

        For people who are logged in with a browser.
        """
        request = ApiRequest.of("POST", "/invitations:accept", body=body)
        return cast("JoinedTeam", self._sender.answer(request))

    def add_image_rule(self, body: Mapping[str, Any]) -> ImageRule:
        """Allow images (admins)."""
        request = ApiRequest.of("POST", "/image-rules", body=body)
        return cast("ImageRule", self._sender.answer(request))

    def add_member(self, name: str, body: MemberBody) -> Member:
        """Give somebody a role in a team (leads, admins)."""
        request = ApiRequest.of("POST", f"/teams/{segment(name)}/members", body=body)
        return cast("Member", self._sender.answer(request))

    def add_model_version(
        self, name: str, model: str, body: ModelVersionBody
    ) -> ModelVersionDetail:
        """Make a checkpoint the next version of a model.

        Of a new model, if there is none of this name. It stays when its job is deleted.
        """
        request = ApiRequest.of(
            "POST", f"/teams/{segment(name)}/models/{segment(model)}/versions", body=body
        )
        return cast("ModelVersionDetail", self._sender.answer(request))

    def add_node(self, body: NewNode) -> NewNode:
        """Add a node to a pool (admins)."""
        request = ApiRequest.of("POST", "/nodes", body=body)
        return cast("NewNode", self._sender.answer(request))

    def add_personal_token(self, body: PersonalTokenBody) -> MadePersonalToken:
        """Make a token of your own, and read its key this once.

        It may do what you may, as far as its scopes say, and as long as you may. You have at
        most 30 valid ones. A token makes no others.
        """
        request = ApiRequest.of("POST", "/personal-tokens", body=body)
        return cast("MadePersonalToken", self._sender.answer(request))

    def add_pool(self, body: NewPool) -> NewPool:
        """Make a pool (admins)."""
        request = ApiRequest.of("POST", "/pools", body=body)
        return cast("NewPool", self._sender.answer(request))

    def add_prefetched_image(self, body: Mapping[str, Any]) -> PrefetchedImage:
        """Have an image fetched to each node of a pool (admins)."""
        request = ApiRequest.of("POST", "/prefetched-images", body=body)
        return cast("PrefetchedImage", self._sender.answer(request))

    def add_schedule(self, name: str, body: ScheduleBody) -> ScheduleDetail:
        """Submit a job spec again and again.

        At each time that `cron` tells in `time_zone`. It submits in the name of whoever adds
        it, as long as they, and the token with which they did, may submit jobs in the team. The
        spec is checked now, as it is at each time. A team has at most 50. Expressions are those
        of Debian's cron, with five fields.
        """
        request = ApiRequest.of("POST", f"/teams/{segment(name)}/schedules", body=body)
        return cast("ScheduleDetail", self._sender.answer(request))

    def add_team(self, body: NewTeam) -> NewTeam:
        """Make a team (admins)."""
        request = ApiRequest.of("POST", "/teams", body=body)
        return cast("NewTeam", self._sender.answer(request))

    def add_template(self, name: str, body: TemplateBody) -> Template:
        """Add a part of a job spec that jobs may name (leads, team tokens, admins).

        A job that says `template: NAME` gets it where its own spec says nothing.
        """
        request = ApiRequest.of("POST", f"/teams/{segment(name)}/templates", body=body)
        return cast("Template", self._sender.answer(request))

    def add_token(self, name: str, body: TokenBody) -> MadeToken:
        """Make a token of a team, and read its key this once (leads, admins).

        A team has at most 100 valid ones.
        """
        request = ApiRequest.of("POST", f"/teams/{segment(name)}/tokens", body=body)
        return cast("MadeToken", self._sender.answer(request))

    def add_webhook(self, body: WebhookBody) -> MadeWebhook:
        """Tell an address of what happens from now on (leads; admins for all teams).

        The answer has the key with which messages are signed, this once. A team has at most 10,
        the installation 20.
        """
        request = ApiRequest.of("POST", "/webhooks", body=body)
        return cast("MadeWebhook", self._sender.answer(request))

    def apply_setup(self, body: SetupBody, *, version: str | int | None = None) -> SetupOutcome:
        """Change the set-up to what a document says, all or nothing (admins).

        What the document leaves out stays, unless `prune` is true. With `If-Match`, a
        `version`, it is refused if somebody has changed the set-up meanwhile.
        """
        request = ApiRequest.of(
            "POST", "/cluster/setup:apply", headers={"If-Match": as_version(version)}, body=body
        )
        return cast("SetupOutcome", self._sender.answer(request))

    def cancel_array(self, array_id: str, body: ReasonBody | None = None) -> SteeredArray:
        """Stop all jobs of an array for good.

        Those to which it makes no difference stay as they are. If some of its live jobs are not
        the caller's to change, nothing is done.
        """
        request = ApiRequest.of("POST", f"/arrays/{segment(array_id)}/cancel", body=body)
        return cast("SteeredArray", self._sender.answer(request))

    def cancel_job(
        self, job_id: str, body: ReasonBody | None = None, *, tree: bool | None = None
    ) -> JobDetail:
        """Stop a job for good.

        A job that holds GPUs first becomes `stopping`, until they are free. With `tree` all is
        cancelled that waits for it, or nothing if some of it is not the caller's to change.
        """
        request = ApiRequest.of(
            "POST", f"/jobs/{segment(job_id)}/cancel", params={"tree": tree}, body=body
        )
        return cast("JobDetail", self._sender.answer(request))

    def cancel_quota_preview(self, preview_id: str) -> QuotaPreview:
        """Give up a preview."""
        request = ApiRequest.of("POST", f"/quota-previews/{segment(preview_id)}/cancel")
        return cast("QuotaPreview", self._sender.answer(request))

    def cancel_quota_price(self, price_id: str) -> QuotaPrice:
        """Give up the replays."""
        request = ApiRequest.of("POST", f"/quota-prices/{segment(price_id)}/cancel")
        return cast("QuotaPrice", self._sender.answer(request))

    def cancel_simulation(self, simulation_id: str) -> SimulationDetail:
        """Give up a simulation."""
        request = ApiRequest.of("POST", f"/simulations/{segment(simulation_id)}/cancel")
        return cast("SimulationDetail", self._sender.answer(request))

    def cancel_sweep(self, sweep_id: str, body: ReasonBody | None = None) -> SweepDetail:
        """Stop all trials of a sweep for good, and submit no more.

        If some of its live trials are not the caller's to change, nothing is done.
        """
        request = ApiRequest.of("POST", f"/sweeps/{segment(sweep_id)}/cancel", body=body)
        return cast("SweepDetail", self._sender.answer(request))

    def change_job(
        self, job_id: str, body: JobChanges, *, version: str | int | None = None
    ) -> SubmittedJob:
        """Change what a live job asks for.

        The body is a part of a job spec in JSON or YAML: what it names is replaced, what it
        leaves out stays, and null brings back the default. It counts from the next tick on.
        With `If-Match`, the job's `version`, it is refused if somebody has changed the job
        meanwhile. Changeable are `pool`, `pools`, `elastic.min_workers`, `elastic.max_workers`,
        `elastic.allowed_workers`, `elastic.worker_step`, `elastic.requested_workers`,
        `elastic.min_interval`, `batch.global_batch_size.min`, `batch.global_batch_size.max`,
        `batch.global_batch_size.multiple_of`, `priority`, `preemptibility`, `deadline`,
        `max_duration`, `budget_gpu_hours`, `idle`, `notify`, `retry.max_restarts`, `labels`.
        """
        request = ApiRequest.of(
            "PATCH",
            f"/jobs/{segment(job_id)}",
            headers={"If-Match": as_version(version)},
            body=body,
        )
        return cast("SubmittedJob", self._sender.answer(request))

    def change_member(self, name: str, member: str, body: PatchedRoleBody) -> Member:
        """Give somebody who is in a team another role (leads, admins).

        The last lead of a team, of whom none is in a team above either, loses the role by an
        admin only.
        """
        request = ApiRequest.of(
            "PATCH", f"/teams/{segment(name)}/members/{segment(member)}", body=body
        )
        return cast("Member", self._sender.answer(request))

    def change_node(self, name: str, body: PatchedChangedNode) -> NewNode:
        """Change where a node is, its GPUs or its pool (admins).

        What is not named stays. While jobs have its GPUs it neither moves nor has fewer of
        them.
        """
        request = ApiRequest.of("PATCH", f"/nodes/{segment(name)}", body=body)
        return cast("NewNode", self._sender.answer(request))

    def change_password(self, body: NewPasswordBody) -> None:
        """Change your own password.

        For people who are logged in with a browser. Their other browsers are signed out; tokens
        stay. Whoever signs in elsewhere, by a provider or a proxy, has none here.
        """
        request = ApiRequest.of("POST", "/session/password", body=body)
        self._sender.answer(request)

    def change_pool(self, name: str, body: PatchedPoolSetup) -> NewPool:
        """Change a pool: its policy, its fair-share settings, its nodes (admins).

        What is not named stays, each node included.
        """
        request = ApiRequest.of("PATCH", f"/pools/{segment(name)}", body=body)
        return cast("NewPool", self._sender.answer(request))

    def change_quota(self, name: str, pool: str, body: PatchedQuotaChange) -> QuotaChange:
        """Change what a team may use of a pool (admins; leads of the team above).

        Leads promise the teams below theirs no more than is guaranteed to theirs.
        """
        request = ApiRequest.of(
            "PATCH", f"/teams/{segment(name)}/quotas/{segment(pool)}", body=body
        )
        return cast("QuotaChange", self._sender.answer(request))

    def change_schedule(
        self, name: str, schedule: str, body: PatchedScheduleChangeBody, *, version: str | int
    ) -> ScheduleDetail:
        """Change a schedule.

        What is left out stays, the next time, too, unless `cron` or `time_zone` is another.
        Whoever changes the spec answers for it from then on: it submits in their name. `If-
        Match` is the `version` that was read; if somebody has changed it since, nothing is
        changed. It needs the right to submit, and of those that are not one's own the right to
        change all jobs.
        """
        request = ApiRequest.of(
            "PATCH",
            f"/teams/{segment(name)}/schedules/{segment(schedule)}",
            headers={"If-Match": as_version(version)},
            body=body,
        )
        return cast("ScheduleDetail", self._sender.answer(request))

    def change_team(self, name: str, body: PatchedTeamChange) -> TeamChange:
        """Change a team: its name, the team above it, its limits (admins).

        Leads of the team change `members_change_all_jobs`, `max_running_jobs_per_user`,
        `max_queued_jobs_per_user` and `max_gpus_per_user`. Leads of a team above also change
        `max_running_jobs`, `gpu_hours_per_month` and `when_used_up`, up to what the teams above
        have.
        """
        request = ApiRequest.of("PATCH", f"/teams/{segment(name)}", body=body)
        return cast("TeamChange", self._sender.answer(request))

    def change_team_retention(self, name: str, part: str, body: PatchedRetentionBody) -> KeptPart:
        """Change for how long a team keeps a part (leads and tokens; bounds: admins).

        It counts for jobs that have ended already, too: what is older goes within minutes, and
        nobody can bring it back. Pinned jobs keep everything.
        """
        request = ApiRequest.of(
            "PATCH", f"/teams/{segment(name)}/retention/{segment(part)}", body=body
        )
        return cast("KeptPart", self._sender.answer(request))

    def change_team_rules(
        self, name: str, body: PatchedRulesBody, *, version: str | int
    ) -> TeamRules:
        """Change what a team says of the specs of its jobs (leads, admins).

        A part that is named takes the place of that whole part, null takes it away, and what is
        left out stays. The rules of all teams above count as well: those of a lead may not be
        looser. They count for what is submitted and changed from now on; jobs that are there
        stay as they are. `If-Match` is the `version` that was read.
        """
        request = ApiRequest.of(
            "PATCH",
            f"/teams/{segment(name)}/rules",
            headers={"If-Match": as_version(version)},
            body=body,
        )
        return cast("TeamRules", self._sender.answer(request))

    def change_template(
        self, name: str, template: str, body: PatchedTemplateChangeBody, *, version: str | int
    ) -> Template:
        """Change a template (leads, team tokens, admins).

        What is left out stays. Jobs that began with it stay as they are. `If-Match` is the
        `version` that was read.
        """
        request = ApiRequest.of(
            "PATCH",
            f"/teams/{segment(name)}/templates/{segment(template)}",
            headers={"If-Match": as_version(version)},
            body=body,
        )
        return cast("Template", self._sender.answer(request))

    def change_webhook(self, webhook: int, body: PatchedWebhookChangeBody) -> Webhook:
        """Change of what a webhook is told, or switch it off and on (leads, admins).

        Another address needs another webhook, with a key of its own.
        """
        request = ApiRequest.of("PATCH", f"/webhooks/{segment(webhook)}", body=body)
        return cast("Webhook", self._sender.answer(request))

    def compare_jobs(
        self,
        *,
        jobs: str,
        measure: Literal["samples_per_second", "step_seconds", "learning_rate"] | None = None,
        metric: str | None = None,
        points: int | None = None,
    ) -> Comparison:
        """Show a few jobs side by side: specs, outcomes, and a curve of each.

        Jobs that the caller may not see are named in `missing`, as those that do not exist.
        """
        request = ApiRequest.of(
            "GET",
            "/jobs:compare",
            params={"jobs": jobs, "measure": measure, "metric": metric, "points": points},
        )
        return cast("Comparison", self._sender.answer(request))

    def confirm_device_login(self, body: UserCodeBody) -> None:
        """Let a command line have the token that it asks for.

        A valid token of yours of the same name ends when it is made.
        """
        request = ApiRequest.of("POST", "/device-logins:confirm", body=body)
        self._sender.answer(request)

    def cordon_node(self, name: str) -> NodeService:
        """Place nothing new on a node (admins)."""
        request = ApiRequest.of("POST", f"/nodes/{segment(name)}/cordon")
        return cast("NodeService", self._sender.answer(request))

    def delete_data_source(self, name: str) -> None:
        """Delete a source of data; its files stay (as who may add it).

        Refused while live jobs use it.
        """
        request = ApiRequest.of("DELETE", f"/data-sources/{segment(name)}")
        self._sender.answer(request)

    def delete_gpu_price(
        self, pool: str, since: date | str, *, changes_past: bool | None = None
    ) -> None:
        """Take a price back: the one before holds on (admins).

        Refused for a day that is past, unless `changes_past` is true.
        """
        request = ApiRequest.of(
            "DELETE",
            f"/gpu-prices/{segment(pool)}/{segment(since)}",
            params={"changes_past": changes_past},
        )
        self._sender.answer(request)

    def delete_image_rule(self, rule_id: int) -> None:
        """Allow images no longer (admins).

        Running jobs go on; waiting ones that need the rule fail when they start.
        """
        request = ApiRequest.of("DELETE", f"/image-rules/{segment(rule_id)}")
        self._sender.answer(request)

    def delete_job(self, job_id: str) -> None:
        """Forget a job that has ended.

        With its history, curves, logs and checkpoints; there is no way back. The GPU time that
        it used stays in the sums. A job that lives has to be cancelled first, a pinned one
        unpinned.
        """
        request = ApiRequest.of("DELETE", f"/jobs/{segment(job_id)}")
        self._sender.answer(request)

    def delete_job_checkpoint(self, job_id: str, step: int | str) -> None:
        """Delete a checkpoint.

        Not the newest of a live job, which would go on from it.
        """
        request = ApiRequest.of("DELETE", f"/jobs/{segment(job_id)}/checkpoints/{segment(step)}")
        self._sender.answer(request)

    def delete_job_output(self, job_id: str, *, path: str) -> None:
        """Delete a file or folder of a job's outputs.

        It is not shown any more; the control loop removes it within seconds.
        """
        request = ApiRequest.of("DELETE", f"/jobs/{segment(job_id)}/outputs", params={"path": path})
        self._sender.answer(request)

    def delete_model(self, name: str, model: str) -> None:
        """Delete a model with all of its versions.

        Not while there are words for versions, or live jobs start from one.
        """
        request = ApiRequest.of("DELETE", f"/teams/{segment(name)}/models/{segment(model)}")
        self._sender.answer(request)

    def delete_model_alias(self, name: str, model: str, alias: str) -> None:
        """Let a word mean no version of a model any more."""
        request = ApiRequest.of(
            "DELETE", f"/teams/{segment(name)}/models/{segment(model)}/aliases/{segment(alias)}"
        )
        self._sender.answer(request)

    def delete_model_version(self, name: str, model: str, version: str) -> None:
        """Delete a version of a model.

        Not while there is a word for it, or live jobs start from it.
        """
        request = ApiRequest.of(
            "DELETE", f"/teams/{segment(name)}/models/{segment(model)}/versions/{segment(version)}"
        )
        self._sender.answer(request)

    def delete_node(self, name: str) -> None:
        """Remove a node that no job uses (admins)."""
        request = ApiRequest.of("DELETE", f"/nodes/{segment(name)}")
        self._sender.answer(request)

    def delete_pool(self, name: str) -> None:
        """Remove a pool without jobs, with its nodes and quotas (admins)."""
        request = ApiRequest.of("DELETE", f"/pools/{segment(name)}")
        self._sender.answer(request)

    def delete_quota(self, name: str, pool: str) -> None:
        """Let a team be without a quota in a pool (admins).

        It may go on using what is idle.
        """
        request = ApiRequest.of("DELETE", f"/teams/{segment(name)}/quotas/{segment(pool)}")
        self._sender.answer(request)

    def delete_schedule(self, name: str, schedule: str) -> None:
        """Delete a schedule with its runs.

        The jobs that it submitted stay.
        """
        request = ApiRequest.of("DELETE", f"/teams/{segment(name)}/schedules/{segment(schedule)}")
        self._sender.answer(request)

    def delete_secret(self, name: str, secret: str, *, force: bool | None = None) -> None:
        """Delete a secret (leads and tokens of the team, admins)."""
        request = ApiRequest.of(
            "DELETE", f"/teams/{segment(name)}/secrets/{segment(secret)}", params={"force": force}
        )
        self._sender.answer(request)

    def delete_team(self, name: str) -> None:
        """Remove a team that nothing belongs to (admins).

        Neither jobs, also those that have ended, nor members, valid tokens, models, secrets,
        webhooks, uploaded data, nor teams below it. Its quotas, limits and image rules go with
        it.
        """
        request = ApiRequest.of("DELETE", f"/teams/{segment(name)}")
        self._sender.answer(request)

    def delete_template(self, name: str, template: str) -> None:
        """Delete a template (leads, team tokens, admins).

        Jobs that began with it stay as they are; a schedule whose spec names it is refused at
        its next time.
        """
        request = ApiRequest.of("DELETE", f"/teams/{segment(name)}/templates/{segment(template)}")
        self._sender.answer(request)

    def delete_webhook(self, webhook: int) -> None:
        """Delete a webhook, and forget what it was sent (leads, admins)."""
        request = ApiRequest.of("DELETE", f"/webhooks/{segment(webhook)}")
        self._sender.answer(request)

    def drain_node(self, name: str) -> NodeService:
        """Move running jobs away from a node (admins)."""
        request = ApiRequest.of("POST", f"/nodes/{segment(name)}/drain")
        return cast("NodeService", self._sender.answer(request))

    def explain_job(self, job_id: str) -> Explanation:
        """Why a job waits or has the workers it has."""
        request = ApiRequest.of("GET", f"/jobs/{segment(job_id)}/explain")
        return cast("Explanation", self._sender.answer(request))

    def follow_events(
        self,
        *,
        after: str | None = None,
        job: str | None = None,
        kind: Sequence[EventKind] | None = None,
        quiet: int | None = None,
        team: str | None = None,
        last_event_id: str | None = None,
    ) -> AbstractContextManager[Iterator[ServerEvent]]:
        """What happens to all jobs that the caller sees, as it happens.

        The answer is `text/event-stream`. Each `event` has in its data, as JSON, what an item
        of `list_events` has, and its position as its id. With `Last-Event-ID`, which browsers
        send by themselves, it goes on behind that one and nothing is missed or told twice;
        without, it begins with what happens from now on. `begin` comes first; it and `still-
        there`, which comes when nothing else did for a quarter of a minute or for `quiet`
        seconds, have as id behind which position to go on. `again` says to open the stream
        anew: it has lasted for ten minutes, or the caller sees other teams than before.
        """
        request = ApiRequest.of(
            "GET",
            "/events/stream",
            params={"after": after, "job": job, "kind": kind, "quiet": quiet, "team": team},
            headers={"Last-Event-ID": last_event_id},
        )
        return self._sender.events(request)

    def follow_job_logs(
        self,
        job_id: str,
        *,
        after: str | None = None,
        tail: int | None = None,
        worker: str | None = None,
        last_event_id: str | None = None,
    ) -> AbstractContextManager[Iterator[ServerEvent]]:
        """What a job's workers wrote, in order of time.

        At most 4 MiB of lines. With `follow=true` the answer is `text/event-stream`: each
        event's data is one line as JSON, its id the place to go on from. An event `begin` comes
        first and tells `has_earlier` and `is_trimmed`; `cut` tells how many `bytes` of a
        `worker` were dropped before they could be sent; `end` says that the job has ended,
        `refused` that the token or session holds no longer, and `interrupted` that this could
        not be found out for a minute: come again.
        """
        request = ApiRequest.of(
            "GET",
            f"/jobs/{segment(job_id)}/logs",
            params={"after": after, "tail": tail, "worker": worker, "follow": "true"},
            headers={"Last-Event-ID": last_event_id},
        )
        return self._sender.events(request)

    def follow_reads(self, *, read: Sequence[str]) -> AbstractContextManager[Iterator[ServerEvent]]:
        """What a page reads, sent again whenever it has changed.

        The answer is `text/event-stream`. An event `read` tells in its data, as JSON, which
        `read` was made, with which `status`, and the `body` that it answered; first of all
        reads, then of those whose answer changed. `still-there` comes when nothing else did for
        a quarter of a minute. `again` says to open the stream anew: it has lasted for a minute,
        or the viewer sees other teams than before. The body is null for a status other than
        200. Of many who see the same, one costs as much as all.
        """
        request = ApiRequest.of("GET", "/live", params={"read": read})
        return self._sender.events(request)

    def get_array(self, array_id: str) -> JobArray:
        """Read how the jobs of an array stand.

        The jobs themselves: `list_jobs` with `array`.
        """
        request = ApiRequest.of("GET", f"/arrays/{segment(array_id)}")
        return cast("JobArray", self._sender.answer(request))

    def get_code_upload(self, name: str, digest: str) -> Upload:
        """How far the upload of a snapshot of code is.

        The digest is the SHA-256 of the tar archive before it is compressed, in hexadecimal.
        """
        request = ApiRequest.of("GET", f"/teams/{segment(name)}/code/{segment(digest)}")
        return cast("Upload", self._sender.answer(request))

    def get_data_upload(self, name: str, digest: str) -> Upload:
        """How far the upload of a folder of data is (leads and tokens of the team, admins).

        The digest is the SHA-256 of its manifest, in hexadecimal.
        """
        request = ApiRequest.of("GET", f"/teams/{segment(name)}/data/{segment(digest)}")
        return cast("Upload", self._sender.answer(request))

    def get_fairness_receipt(
        self,
        name: str,
        *,
        pool: str | None = None,
        since: str | None = None,
        time_zone: str | None = None,
        until: str | None = None,
    ) -> FairnessReceipt:
        """Whether a team was given what it was owed, and if not, why.

        A team is owed its guarantee as far as it has work for it: what its jobs hold, and each
        waiting job that with its fewest workers still fits into the guarantee. Of hours that
        are closed, which they are some minutes after they end. At most 1100 days may be asked
        for at once. As a table, it is the shortfalls.
        """
        request = ApiRequest.of(
            "GET",
            f"/teams/{segment(name)}/fairness-receipt",
            params={
                "pool": pool,
                "since": since,
                "time_zone": time_zone,
                "until": until,
                "format": "json",
            },
        )
        return cast("FairnessReceipt", self._sender.answer(request))

    def get_fairness_receipt_as_csv(
        self,
        name: str,
        *,
        pool: str | None = None,
        since: str | None = None,
        time_zone: str | None = None,
        until: str | None = None,
    ) -> str:
        """Whether a team was given what it was owed, and if not, why.

        A team is owed its guarantee as far as it has work for it: what its jobs hold, and each
        waiting job that with its fewest workers still fits into the guarantee. Of hours that
        are closed, which they are some minutes after they end. At most 1100 days may be asked
        for at once. As a table, it is the shortfalls.
        """
        request = ApiRequest.of(
            "GET",
            f"/teams/{segment(name)}/fairness-receipt",
            params={
                "pool": pool,
                "since": since,
                "time_zone": time_zone,
                "until": until,
                "format": "csv",
            },
        )
        return self._sender.text(request)

    def get_health(self) -> Health:
        """Whether the service works."""
        request = ApiRequest.of("GET", "/health")
        return cast("Health", self._sender.answer(request))

    def get_job(self, job_id: str) -> JobDetail:
        """Read one job.

        A view that is told, where it is wired, how to ask about pools, and what is too large.
        """
        request = ApiRequest.of("GET", f"/jobs/{segment(job_id)}")
        return cast("JobDetail", self._sender.answer(request))

    def get_job_advice(self, job_id: str) -> SizeAdvice:
        """How many workers would have been right for a job.

        From what was measured while it ran, also while it still runs. Nothing is advised about
        sizes beyond those that were measured, and nothing where only one was.
        """
        request = ApiRequest.of("GET", f"/jobs/{segment(job_id)}/advice")
        return cast("SizeAdvice", self._sender.answer(request))

    def get_job_checkpoint(self, job_id: str, step: int | str) -> KeptCheckpoint:
        """One checkpoint.

        `latest` is the one with which the job would go on; `best` the one of which the best
        value of `checkpoint.keep_best` was measured.
        """
        request = ApiRequest.of("GET", f"/jobs/{segment(job_id)}/checkpoints/{segment(step)}")
        return cast("KeptCheckpoint", self._sender.answer(request))

    def get_job_code(
        self, job_id: str, *, if_range: str | None = None, byte_range: str | None = None
    ) -> AbstractContextManager[StreamedResponse]:
        """The code that a job was submitted with.

        As a tar archive, compressed by gzip.
        """
        request = ApiRequest.of(
            "GET",
            f"/jobs/{segment(job_id)}/code",
            headers={"If-Range": if_range, "Range": byte_range},
        )
        return self._sender.file(request)

    def get_job_log_file(
        self,
        job_id: str,
        *,
        worker: str | None = None,
        if_range: str | None = None,
        byte_range: str | None = None,
    ) -> AbstractContextManager[StreamedResponse]:
        """All that is kept of a job's log, as a file.

        As an attachment. A line is the process, the moment, `stdout` or `stderr`, and the text,
        with a blank between each two; lines of several processes are in order of time. It ends
        with the last whole line there was when it was asked for. If a part is dropped while it
        is sent, since the log became too long, the connection breaks off.
        """
        request = ApiRequest.of(
            "GET",
            f"/jobs/{segment(job_id)}/logs/file",
            params={"worker": worker},
            headers={"If-Range": if_range, "Range": byte_range},
        )
        return self._sender.file(request)

    def get_job_metrics_table(
        self,
        job_id: str,
        *,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
    ) -> MetricList:
        """A job's progress over time, all of it, as a file.

        Every point that is kept, as fine as it is kept, oldest first: all of them, or those
        between two moments. In CSV, what the script logged as `loss` is the column
        `values.loss`; JSON is as `list_job_metrics` answers, with a line for each point.
        """
        request = ApiRequest.of(
            "GET",
            f"/jobs/{segment(job_id)}/metrics/table",
            params={"since": since, "until": until, "format": "json"},
        )
        return cast("MetricList", self._sender.answer(request))

    def get_job_metrics_table_as_csv(
        self,
        job_id: str,
        *,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
    ) -> str:
        """A job's progress over time, all of it, as a file.

        Every point that is kept, as fine as it is kept, oldest first: all of them, or those
        between two moments. In CSV, what the script logged as `loss` is the column
        `values.loss`; JSON is as `list_job_metrics` answers, with a line for each point.
        """
        request = ApiRequest.of(
            "GET",
            f"/jobs/{segment(job_id)}/metrics/table",
            params={"since": since, "until": until, "format": "csv"},
        )
        return self._sender.text(request)

    def get_job_output(
        self, job_id: str, *, path: str, if_range: str | None = None, byte_range: str | None = None
    ) -> AbstractContextManager[StreamedResponse]:
        """A file of a job's outputs.

        As an attachment. A file that gets shorter while it is sent breaks the connection off.
        """
        request = ApiRequest.of(
            "GET",
            f"/jobs/{segment(job_id)}/outputs/file",
            params={"path": path},
            headers={"If-Range": if_range, "Range": byte_range},
        )
        return self._sender.file(request)

    def get_job_output_archive(
        self, job_id: str, *, folder: str | None = None
    ) -> AbstractContextManager[StreamedResponse]:
        """A folder of a job's outputs as a tar archive.

        It is made while it is sent; files and folders alone are in it. A file that gets shorter
        meanwhile breaks the connection off.
        """
        request = ApiRequest.of(
            "GET", f"/jobs/{segment(job_id)}/outputs/archive", params={"folder": folder}
        )
        return self._sender.file(request)

    def get_job_training_state(
        self,
        job_id: str,
        step: int | str,
        *,
        if_range: str | None = None,
        byte_range: str | None = None,
    ) -> AbstractContextManager[StreamedResponse]:
        """The rest of a checkpoint.

        What PyTorch wrote: optimizer, position in the data, random numbers. It is pickled: load
        it only if you trust the job.
        """
        request = ApiRequest.of(
            "GET",
            f"/jobs/{segment(job_id)}/checkpoints/{segment(step)}/state",
            headers={"If-Range": if_range, "Range": byte_range},
        )
        return self._sender.file(request)

    def get_job_weights(
        self,
        job_id: str,
        step: int | str,
        *,
        if_range: str | None = None,
        byte_range: str | None = None,
    ) -> AbstractContextManager[StreamedResponse]:
        """The weights of a checkpoint, as safetensors.

        The tensors of the model's `state_dict()`, by names without wrappers such as `module.`;
        what is no plain tensor is left out.
        """
        request = ApiRequest.of(
            "GET",
            f"/jobs/{segment(job_id)}/checkpoints/{segment(step)}/weights",
            headers={"If-Range": if_range, "Range": byte_range},
        )
        return self._sender.file(request)

    def get_model_version(self, name: str, model: str, version: str) -> ModelVersionDetail:
        """One version of a model, and how it came to be."""
        request = ApiRequest.of(
            "GET", f"/teams/{segment(name)}/models/{segment(model)}/versions/{segment(version)}"
        )
        return cast("ModelVersionDetail", self._sender.answer(request))

    def get_model_weights(
        self,
        name: str,
        model: str,
        version: str,
        *,
        if_range: str | None = None,
        byte_range: str | None = None,
    ) -> AbstractContextManager[StreamedResponse]:
        """The weights of a version of a model, as safetensors."""
        request = ApiRequest.of(
            "GET",
            f"/teams/{segment(name)}/models/{segment(model)}/versions/{segment(version)}/weights",
            headers={"If-Range": if_range, "Range": byte_range},
        )
        return self._sender.file(request)

    def get_month_report(self, name: str, month: str) -> MonthReport:
        """What a team used, lent and is charged for in a month.

        Of hours that are closed. What it used is priced as the days are; what it lent is
        credited at the same price. The month before stands beside it.
        """
        request = ApiRequest.of(
            "GET", f"/teams/{segment(name)}/reports/{segment(month)}", params={"format": "json"}
        )
        return cast("MonthReport", self._sender.answer(request))

    def get_month_report_as_csv(self, name: str, month: str) -> str:
        """What a team used, lent and is charged for in a month.

        Of hours that are closed. What it used is priced as the days are; what it lent is
        credited at the same price. The month before stands beside it.
        """
        request = ApiRequest.of(
            "GET", f"/teams/{segment(name)}/reports/{segment(month)}", params={"format": "csv"}
        )
        return self._sender.text(request)

    def get_prefetched_image(self, number: int) -> PrefetchedImage:
        """An image that is fetched to each node of a pool (admins)."""
        request = ApiRequest.of("GET", f"/prefetched-images/{segment(number)}")
        return cast("PrefetchedImage", self._sender.answer(request))

    def get_quota(self, name: str, pool: str) -> QuotaChange:
        """What a team may use of a pool."""
        request = ApiRequest.of("GET", f"/teams/{segment(name)}/quotas/{segment(pool)}")
        return cast("QuotaChange", self._sender.answer(request))

    def get_quota_preview(self, preview_id: str) -> QuotaPreview:
        """How far a preview is, and what came out."""
        request = ApiRequest.of("GET", f"/quota-previews/{segment(preview_id)}")
        return cast("QuotaPreview", self._sender.answer(request))

    def get_quota_price(self, price_id: str) -> QuotaPrice:
        """How far the replays are, and what came out."""
        request = ApiRequest.of("GET", f"/quota-prices/{segment(price_id)}")
        return cast("QuotaPrice", self._sender.answer(request))

    def get_schedule(self, name: str, schedule: str) -> ScheduleDetail:
        """Read a schedule with its spec and its last runs.

        A view that is told, where it is wired, how to ask about pools, and what is too large.
        """
        request = ApiRequest.of("GET", f"/teams/{segment(name)}/schedules/{segment(schedule)}")
        return cast("ScheduleDetail", self._sender.answer(request))

    def get_session(self) -> Session:
        """Who is logged in.

        The session of a person's browser. Every answer renews the `csrftoken` cookie.
        """
        request = ApiRequest.of("GET", "/session")
        return cast("Session", self._sender.answer(request))

    def get_setup(self, *, as_of: datetime | str | None = None) -> WholeSetup:
        """All that admins have set up, as one document (admins).

        Pools with their policy, fair-share settings, prefetched images and nodes; teams with
        their limits, quotas, rules and templates. No secrets, people or tokens.
        """
        request = ApiRequest.of("GET", "/cluster/setup", params={"as_of": as_of})
        return cast("WholeSetup", self._sender.answer(request))

    def get_sign_in_methods(self) -> SignInMethods:
        """By what one may sign in."""
        request = ApiRequest.of("GET", "/sign-in-methods")
        return cast("SignInMethods", self._sender.answer(request))

    def get_simulation(self, simulation_id: str) -> SimulationDetail:
        """How far a simulation is, and what came out."""
        request = ApiRequest.of("GET", f"/simulations/{segment(simulation_id)}")
        return cast("SimulationDetail", self._sender.answer(request))

    def get_simulation_report(self, simulation_id: str) -> str:
        """The HTML report of a completed simulation."""
        request = ApiRequest.of("GET", f"/simulations/{segment(simulation_id)}/report")
        return self._sender.text(request)

    def get_standing(self, name: str, *, pool: str | None = None) -> StandingList:
        """How a team stands in each pool."""
        request = ApiRequest.of("GET", f"/teams/{segment(name)}/standing", params={"pool": pool})
        return cast("StandingList", self._sender.answer(request))

    def get_summary(self, *, hours: float | None = None) -> Summary:
        """How jobs fared lately, beside the time before."""
        request = ApiRequest.of("GET", "/cluster/summary", params={"hours": hours})
        return cast("Summary", self._sender.answer(request))

    def get_sweep(self, sweep_id: str) -> SweepDetail:
        """Read a sweep with all its trials, their rungs and the best of them."""
        request = ApiRequest.of("GET", f"/sweeps/{segment(sweep_id)}")
        return cast("SweepDetail", self._sender.answer(request))

    def get_team(self, name: str) -> TeamDetail:
        """How a team stands, with its quotas."""
        request = ApiRequest.of("GET", f"/teams/{segment(name)}")
        return cast("TeamDetail", self._sender.answer(request))

    def get_team_retention(self, name: str) -> TeamRetention:
        """For how long a team keeps what its jobs leave behind."""
        request = ApiRequest.of("GET", f"/teams/{segment(name)}/retention")
        return cast("TeamRetention", self._sender.answer(request))

    def get_team_rules(self, name: str) -> TeamRules:
        """What a team, and those above it, say of the specs of its jobs."""
        request = ApiRequest.of("GET", f"/teams/{segment(name)}/rules")
        return cast("TeamRules", self._sender.answer(request))

    def get_team_storage(self, name: str) -> TeamStorage:
        """How much a team's jobs keep on disk, and which of them most."""
        request = ApiRequest.of("GET", f"/teams/{segment(name)}/storage")
        return cast("TeamStorage", self._sender.answer(request))

    def get_template(self, name: str, template: str) -> Template:
        """Read the template that jobs of a team get by a name."""
        request = ApiRequest.of("GET", f"/teams/{segment(name)}/templates/{segment(template)}")
        return cast("Template", self._sender.answer(request))

    def get_tick(self, number: int) -> TickDetail:
        """A tick, with the GPUs of all jobs before and after it."""
        request = ApiRequest.of("GET", f"/ticks/{segment(number)}")
        return cast("TickDetail", self._sender.answer(request))

    def get_utilisation(
        self, *, minutes: int | None = None, pool: str | None = None
    ) -> Utilisation:
        """GPUs in use and waited for over time, by team."""
        request = ApiRequest.of(
            "GET", "/cluster/utilisation", params={"minutes": minutes, "pool": pool}
        )
        return cast("Utilisation", self._sender.answer(request))

    def get_whole_month_report(self, month: str) -> WholeMonthReport:
        """What all teams used, lent and are charged for in a month (admins).

        A row for each team, as its own report says, and what they add up to.
        """
        request = ApiRequest.of("GET", f"/reports/{segment(month)}", params={"format": "json"})
        return cast("WholeMonthReport", self._sender.answer(request))

    def get_whole_month_report_as_csv(self, month: str) -> str:
        """What all teams used, lent and are charged for in a month (admins).

        A row for each team, as its own report says, and what they add up to.
        """
        request = ApiRequest.of("GET", f"/reports/{segment(month)}", params={"format": "csv"})
        return self._sender.text(request)

    def invite_member(self, name: str, body: InvitationBody) -> MadeInvitation:
        """Invite somebody into a team (leads, admins).

        The link makes one person a member, once, within 7 days, as long as you may give the
        role. A team has at most 50 open ones.
        """
        request = ApiRequest.of("POST", f"/teams/{segment(name)}/invitations", body=body)
        return cast("MadeInvitation", self._sender.answer(request))

    def join_by_invitation(self, body: NewAccountBody) -> JoinedTeam:
        """Make an account by an invitation, become a member with it, and log in."""
        request = ApiRequest.of("POST", "/invitations:join", body=body)
        return cast("JoinedTeam", self._sender.answer(request))

    def list_arrays(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        name: str | None = None,
        team: str | None = None,
    ) -> JobArrayPage:
        """List arrays of jobs, the newest first."""
        request = ApiRequest.of(
            "GET", "/arrays", params={"cursor": cursor, "limit": limit, "name": name, "team": team}
        )
        return cast("JobArrayPage", self._sender.answer(request))

    def list_audit_entries(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        object_name: str | None = None,
        operation: str | None = None,
        outcome: Literal["done", "refused", "failed", ""] | None = None,
        sender: str | None = None,
        since: datetime | str | None = None,
        team: str | None = None,
        token: str | None = None,
        until: datetime | str | None = None,
    ) -> AuditPage:
        """Who did what, and who was refused, the newest first (leads, admins).

        Leads see entries about their teams and those below, admins all. At most 1000 at once;
        where the next page of a table is, its header `Link` says.
        """
        request = ApiRequest.of(
            "GET",
            "/audit",
            params={
                "cursor": cursor,
                "limit": limit,
                "object": object_name,
                "operation": operation,
                "outcome": outcome,
                "sender": sender,
                "since": since,
                "team": team,
                "token": token,
                "until": until,
                "format": "json",
            },
        )
        return cast("AuditPage", self._sender.answer(request))

    def list_audit_entries_as_csv(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        object_name: str | None = None,
        operation: str | None = None,
        outcome: Literal["done", "refused", "failed", ""] | None = None,
        sender: str | None = None,
        since: datetime | str | None = None,
        team: str | None = None,
        token: str | None = None,
        until: datetime | str | None = None,
    ) -> str:
        """Who did what, and who was refused, the newest first (leads, admins).

        Leads see entries about their teams and those below, admins all. At most 1000 at once;
        where the next page of a table is, its header `Link` says.
        """
        request = ApiRequest.of(
            "GET",
            "/audit",
            params={
                "cursor": cursor,
                "limit": limit,
                "object": object_name,
                "operation": operation,
                "outcome": outcome,
                "sender": sender,
                "since": since,
                "team": team,
                "token": token,
                "until": until,
                "format": "csv",
            },
        )
        return self._sender.text(request)

    def list_data_sources(self) -> DataSourceList:
        """The sources of data that jobs of your teams may name.

        For admins, those of all teams. At most 500.
        """
        request = ApiRequest.of("GET", "/data-sources")
        return cast("DataSourceList", self._sender.answer(request))

    def list_events(
        self,
        *,
        after: str | None = None,
        job: str | None = None,
        kind: Sequence[EventKind] | None = None,
        limit: int | None = None,
        team: str | None = None,
    ) -> FeedPage:
        """What happened to all jobs that the caller sees, a page at a time.

        In the order in which it was committed: whoever goes on with `next` misses nothing and
        is told nothing twice. Without `after` it begins with the oldest that is kept. To wait
        for more, ask again with `next` every few seconds, or follow the stream.
        """
        request = ApiRequest.of(
            "GET",
            "/events",
            params={"after": after, "job": job, "kind": kind, "limit": limit, "team": team},
        )
        return cast("FeedPage", self._sender.answer(request))

    def list_gpu_prices(self, *, pool: str | None = None) -> GpuPriceList:
        """What a GPU-hour of each pool costs, and cost.

        All that was ever set; pools without one have no price. A day of UTC is priced as a
        whole. There are at most 2,000.
        """
        request = ApiRequest.of("GET", "/gpu-prices", params={"pool": pool})
        return cast("GpuPriceList", self._sender.answer(request))

    def list_gpu_use(self) -> GpuUseList:
        """How busy the GPUs of jobs are that you may see."""
        request = ApiRequest.of("GET", "/cluster/gpus")
        return cast("GpuUseList", self._sender.answer(request))

    def list_image_rules(
        self, *, after: int | None = None, limit: int | None = None
    ) -> ImageRuleList:
        """Rules that allow images, oldest first (admins)."""
        request = ApiRequest.of("GET", "/image-rules", params={"after": after, "limit": limit})
        return cast("ImageRuleList", self._sender.answer(request))

    def list_invitations(self, name: str) -> InvitationList:
        """Who is invited into a team (leads, admins).

        Open ones first, then those that ended last.
        """
        request = ApiRequest.of("GET", f"/teams/{segment(name)}/invitations")
        return cast("InvitationList", self._sender.answer(request))

    def list_job_checkpoints(
        self, job_id: str, *, cursor: str | None = None, limit: int | None = None
    ) -> KeptCheckpoints:
        """A job's checkpoints.

        Newest first, as they describe themselves. Those that the job has written by other means
        than the library are not among them.
        """
        request = ApiRequest.of(
            "GET", f"/jobs/{segment(job_id)}/checkpoints", params={"cursor": cursor, "limit": limit}
        )
        return cast("KeptCheckpoints", self._sender.answer(request))

    def list_job_dependencies(self, job_id: str) -> JobDependencies:
        """For which jobs a job waits, and which wait for it.

        Of each at most 100, the first that were named.
        """
        request = ApiRequest.of("GET", f"/jobs/{segment(job_id)}/dependencies")
        return cast("JobDependencies", self._sender.answer(request))

    def list_job_events(self, job_id: str, *, after: int | None = None) -> EventList:
        """What happened to a job, oldest first."""
        request = ApiRequest.of("GET", f"/jobs/{segment(job_id)}/events", params={"after": after})
        return cast("EventList", self._sender.answer(request))

    def list_job_generations(self, job_id: str) -> GenerationList:
        """With which workers and batch a job trained, and why, oldest first."""
        request = ApiRequest.of("GET", f"/jobs/{segment(job_id)}/generations")
        return cast("GenerationList", self._sender.answer(request))

    def list_job_logs(
        self,
        job_id: str,
        *,
        after: str | None = None,
        tail: int | None = None,
        worker: str | None = None,
        last_event_id: str | None = None,
    ) -> LogLineList:
        """What a job's workers wrote, in order of time.

        At most 4 MiB of lines. With `follow=true` the answer is `text/event-stream`: each
        event's data is one line as JSON, its id the place to go on from. An event `begin` comes
        first and tells `has_earlier` and `is_trimmed`; `cut` tells how many `bytes` of a
        `worker` were dropped before they could be sent; `end` says that the job has ended,
        `refused` that the token or session holds no longer, and `interrupted` that this could
        not be found out for a minute: come again.
        """
        request = ApiRequest.of(
            "GET",
            f"/jobs/{segment(job_id)}/logs",
            params={"after": after, "tail": tail, "worker": worker},
            headers={"Last-Event-ID": last_event_id},
        )
        return cast("LogLineList", self._sender.answer(request))

    def list_job_metrics(
        self,
        job_id: str,
        *,
        points: int | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
    ) -> MetricList:
        """A job's progress over time, thinned evenly.

        All of it, or what is between two moments. Points are kept as they came for an hour;
        older ones are means over 10 s for a day, over a minute for a week, then over ten
        minutes (in the job's first hour: a minute).
        """
        request = ApiRequest.of(
            "GET",
            f"/jobs/{segment(job_id)}/metrics",
            params={"points": points, "since": since, "until": until},
        )
        return cast("MetricList", self._sender.answer(request))

    def list_job_outputs(
        self,
        job_id: str,
        *,
        cursor: str | None = None,
        folder: str | None = None,
        limit: int | None = None,
    ) -> OutputList:
        """What lies in a folder of a job's outputs.

        In the order of names, while the job runs as well. What is neither a file nor a folder
        is left out, links included.
        """
        request = ApiRequest.of(
            "GET",
            f"/jobs/{segment(job_id)}/outputs",
            params={"cursor": cursor, "folder": folder, "limit": limit},
        )
        return cast("OutputList", self._sender.answer(request))

    def list_job_removals(self, job_id: str) -> JobRemovals:
        """What of a job goes when, because it is old.

        By the numbers of its team and of the installation, as they are now. To pin the job
        keeps all of it.
        """
        request = ApiRequest.of("GET", f"/jobs/{segment(job_id)}/removals")
        return cast("JobRemovals", self._sender.answer(request))

    def list_job_sparklines(
        self,
        *,
        limit: int | None = None,
        points: int | None = None,
        state: str | None = None,
        team: str | None = None,
    ) -> SparklineList:
        """How the newest jobs go, in a few numbers each.

        The jobs are those of `list_jobs` with the same `team`, `state` and `limit`.
        """
        request = ApiRequest.of(
            "GET",
            "/jobs:sparklines",
            params={"limit": limit, "points": points, "state": state, "team": team},
        )
        return cast("SparklineList", self._sender.answer(request))

    def list_job_usage(
        self,
        job_id: str,
        *,
        points: int | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        worker: str | None = None,
    ) -> Usage:
        """What a job's workers take of processors, memory and GPUs over time.

        Read on the nodes every ten seconds, whatever runs in the workers, of all workers
        together or of one. Points are kept as they came for an hour; older ones are means over
        a minute for a day, then over ten minutes.
        """
        request = ApiRequest.of(
            "GET",
            f"/jobs/{segment(job_id)}/usage",
            params={"points": points, "since": since, "until": until, "worker": worker},
        )
        return cast("Usage", self._sender.answer(request))

    def list_job_workers(self, job_id: str) -> WorkerList:
        """The processes of a job, oldest first."""
        request = ApiRequest.of("GET", f"/jobs/{segment(job_id)}/workers")
        return cast("WorkerList", self._sender.answer(request))

    def list_jobs(
        self,
        *,
        array: str | None = None,
        count: bool | None = None,
        cursor: str | None = None,
        label: Sequence[str] | None = None,
        limit: int | None = None,
        order: Literal["submitted", "finished", "recent"] | None = None,
        pool: str | None = None,
        schedule: str | None = None,
        search: str | None = None,
        since: datetime | str | None = None,
        state: str | None = None,
        team: str | None = None,
        until: datetime | str | None = None,
        user: str | None = None,
    ) -> JobPage:
        """List jobs, a page at a time.

        All jobs of the caller's teams.
        """
        request = ApiRequest.of(
            "GET",
            "/jobs",
            params={
                "array": array,
                "count": count,
                "cursor": cursor,
                "label": label,
                "limit": limit,
                "order": order,
                "pool": pool,
                "schedule": schedule,
                "search": search,
                "since": since,
                "state": state,
                "team": team,
                "until": until,
                "user": user,
            },
        )
        return cast("JobPage", self._sender.answer(request))

    def list_members(self, name: str) -> MemberList:
        """Who has which role in a team.

        Those of the team itself first, at most 1000, then those of teams above it, nearest
        first.
        """
        request = ApiRequest.of("GET", f"/teams/{segment(name)}/members")
        return cast("MemberList", self._sender.answer(request))

    def list_models(self, name: str) -> ModelList:
        """The models of a team, each with its versions.

        By name. At most 100 models, with 500 versions in all.
        """
        request = ApiRequest.of("GET", f"/teams/{segment(name)}/models")
        return cast("ModelList", self._sender.answer(request))

    def list_node_jobs(self, name: str) -> Leaving:
        """Which jobs a cordon or drain of a node would hit (admins)."""
        request = ApiRequest.of("GET", f"/nodes/{segment(name)}/jobs")
        return cast("Leaving", self._sender.answer(request))

    def list_nodes(
        self, *, after: str | None = None, limit: int | None = None, pool: str | None = None
    ) -> NodePage:
        """Nodes by name, and whether they take work."""
        request = ApiRequest.of(
            "GET", "/nodes", params={"after": after, "limit": limit, "pool": pool}
        )
        return cast("NodePage", self._sender.answer(request))

    def list_notices(self) -> NoticeList:
        """What whoever signs in should know of this installation."""
        request = ApiRequest.of("GET", "/notices")
        return cast("NoticeList", self._sender.answer(request))

    def list_personal_tokens(self) -> PersonalTokenList:
        """Your own tokens, without their keys.

        Valid ones first, then the 30 that were made last of those that are expired or revoked.
        A token lists only itself.
        """
        request = ApiRequest.of("GET", "/personal-tokens")
        return cast("PersonalTokenList", self._sender.answer(request))

    def list_policies(self) -> PolicyList:
        """The policies of this installation, which pools may have and simulations replay."""
        request = ApiRequest.of("GET", "/policies")
        return cast("PolicyList", self._sender.answer(request))

    def list_pools(self) -> PoolList:
        """Pools, their nodes, and who holds which GPU."""
        request = ApiRequest.of("GET", "/pools")
        return cast("PoolList", self._sender.answer(request))

    def list_prefetched_images(self) -> PrefetchedImageList:
        """Images that are fetched before any job names them, by pool (admins)."""
        request = ApiRequest.of("GET", "/prefetched-images")
        return cast("PrefetchedImageList", self._sender.answer(request))

    def list_prices(
        self,
        *,
        pool: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
    ) -> Prices:
        """What one more GPU of a pool was worth over time."""
        request = ApiRequest.of(
            "GET", "/cluster/prices", params={"pool": pool, "since": since, "until": until}
        )
        return cast("Prices", self._sender.answer(request))

    def list_quotas(self, name: str, *, as_of: datetime | str | None = None) -> QuotaList:
        """What a team may use of each pool, or might."""
        request = ApiRequest.of("GET", f"/teams/{segment(name)}/quotas", params={"as_of": as_of})
        return cast("QuotaList", self._sender.answer(request))

    def list_schedules(self, name: str) -> ScheduleList:
        """The schedules of a team, without their specs, each with its last run.

        By name; a team has at most 50.
        """
        request = ApiRequest.of("GET", f"/teams/{segment(name)}/schedules")
        return cast("ScheduleList", self._sender.answer(request))

    def list_secrets(self, name: str) -> SecretList:
        """The secrets of a team, without what is in them.

        For the team's members. At most 100.
        """
        request = ApiRequest.of("GET", f"/teams/{segment(name)}/secrets")
        return cast("SecretList", self._sender.answer(request))

    def list_settings(self) -> InstallationSettingList:
        """With which settings this installation runs.

        For admins, and for reading: each is a variable of the environment in which the service
        runs. Keys and passwords are not among them.
        """
        request = ApiRequest.of("GET", "/settings")
        return cast("InstallationSettingList", self._sender.answer(request))

    def list_simulations(self) -> SimulationList:
        """Simulations, newest first.

        Admins see everybody's, others their own. At most 100.
        """
        request = ApiRequest.of("GET", "/simulations")
        return cast("SimulationList", self._sender.answer(request))

    def list_sweep_curves(self, sweep_id: str) -> SweepCurves:
        """The metric of trials over their training.

        Of the first 100 trials that have started.
        """
        request = ApiRequest.of("GET", f"/sweeps/{segment(sweep_id)}/curves")
        return cast("SweepCurves", self._sender.answer(request))

    def list_sweeps(
        self, *, cursor: str | None = None, limit: int | None = None, team: str | None = None
    ) -> SweepPage:
        """List sweeps, the newest first.

        A view that is told, where it is wired, how to ask about pools, and what is too large.
        """
        request = ApiRequest.of(
            "GET", "/sweeps", params={"cursor": cursor, "limit": limit, "team": team}
        )
        return cast("SweepPage", self._sender.answer(request))

    def list_team_images(self, name: str) -> TeamImages:
        """Which images a team's jobs may run."""
        request = ApiRequest.of("GET", f"/teams/{segment(name)}/images")
        return cast("TeamImages", self._sender.answer(request))

    def list_teams(self, *, pool: str | None = None) -> TeamList:
        """How every team stands."""
        request = ApiRequest.of("GET", "/teams", params={"pool": pool})
        return cast("TeamList", self._sender.answer(request))

    def list_templates(self, name: str) -> TemplateList:
        """The templates that jobs of a team may name.

        By name: those of the team, and those of teams above it of which it has none of that
        name. A team has at most 100.
        """
        request = ApiRequest.of("GET", f"/teams/{segment(name)}/templates")
        return cast("TemplateList", self._sender.answer(request))

    def list_ticks(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        order: Literal["newest", "oldest"] | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
    ) -> TickPage:
        """What the autoscaler changed, tick by tick.

        A tick is kept if it changed something or raised an alarm, and as long as
        `CONCERTINA_KEEP_UTILISATION_DAYS` says. Of teams that are not yours it tells what the
        installation shows of them.
        """
        request = ApiRequest.of(
            "GET",
            "/ticks",
            params={
                "cursor": cursor,
                "limit": limit,
                "order": order,
                "since": since,
                "until": until,
            },
        )
        return cast("TickPage", self._sender.answer(request))

    def list_tokens(self, name: str) -> TokenList:
        """The tokens of a team, without their keys (leads, admins).

        Valid ones first, then the 100 that were made last of those that are expired or revoked.
        """
        request = ApiRequest.of("GET", f"/teams/{segment(name)}/tokens")
        return cast("TokenList", self._sender.answer(request))

    def list_usage(
        self,
        *,
        by: str | None = None,
        cursor: str | None = None,
        job: str | None = None,
        label: Sequence[str] | None = None,
        limit: int | None = None,
        pool: str | None = None,
        since: str | None = None,
        team: str | None = None,
        time_zone: str | None = None,
        until: str | None = None,
        user: str | None = None,
    ) -> GpuUsage:
        """Who used, lent and borrowed how much GPU time.

        Of hours that are closed, which they are some minutes after they end. People, jobs and
        labels are told of teams whose jobs you see, all else of teams whose quotas you see.
        Days and months are those of `time_zone`; an hour belongs to the one in which it begins.
        At most 1100 days may be asked for at once; by hour, or by days that do not begin with
        those of UTC, 93. Where the next page of a table is, its header `Link` says.
        """
        request = ApiRequest.of(
            "GET",
            "/usage",
            params={
                "by": by,
                "cursor": cursor,
                "job": job,
                "label": label,
                "limit": limit,
                "pool": pool,
                "since": since,
                "team": team,
                "time_zone": time_zone,
                "until": until,
                "user": user,
                "format": "json",
            },
        )
        return cast("GpuUsage", self._sender.answer(request))

    def list_usage_as_csv(
        self,
        *,
        by: str | None = None,
        cursor: str | None = None,
        job: str | None = None,
        label: Sequence[str] | None = None,
        limit: int | None = None,
        pool: str | None = None,
        since: str | None = None,
        team: str | None = None,
        time_zone: str | None = None,
        until: str | None = None,
        user: str | None = None,
    ) -> str:
        """Who used, lent and borrowed how much GPU time.

        Of hours that are closed, which they are some minutes after they end. People, jobs and
        labels are told of teams whose jobs you see, all else of teams whose quotas you see.
        Days and months are those of `time_zone`; an hour belongs to the one in which it begins.
        At most 1100 days may be asked for at once; by hour, or by days that do not begin with
        those of UTC, 93. Where the next page of a table is, its header `Link` says.
        """
        request = ApiRequest.of(
            "GET",
            "/usage",
            params={
                "by": by,
                "cursor": cursor,
                "job": job,
                "label": label,
                "limit": limit,
                "pool": pool,
                "since": since,
                "team": team,
                "time_zone": time_zone,
                "until": until,
                "user": user,
                "format": "csv",
            },
        )
        return self._sender.text(request)

    def list_webhook_deliveries(
        self,
        webhook: int,
        *,
        before: str | None = None,
        limit: int | None = None,
        state: DeliveryState | None = None,
    ) -> DeliveryList:
        """What a webhook was sent, and how it went, the newest first (leads, admins)."""
        request = ApiRequest.of(
            "GET",
            f"/webhooks/{segment(webhook)}/deliveries",
            params={"before": before, "limit": limit, "state": state},
        )
        return cast("DeliveryList", self._sender.answer(request))

    def list_webhooks(self, *, team: str | None = None) -> WebhookList:
        """The webhooks that the caller may change, without their addresses and keys.

        At most 500; a team has at most 10.
        """
        request = ApiRequest.of("GET", "/webhooks", params={"team": team})
        return cast("WebhookList", self._sender.answer(request))

    def log_in(self, body: Credentials) -> Session:
        """Log in with a password.

        The session of a person's browser. Every answer renews the `csrftoken` cookie.
        """
        request = ApiRequest.of("POST", "/session", body=body)
        return cast("Session", self._sender.answer(request))

    def log_out(self) -> None:
        """Log out.

        The session of a person's browser. Every answer renews the `csrftoken` cookie.
        """
        request = ApiRequest.of("DELETE", "/session")
        self._sender.answer(request)

    def look_up_device_login(self, body: UserCodeBody) -> DeviceLogin:
        """What a command line asks for, by the code that it shows.

        For people who are logged in with a browser.
        """
        request = ApiRequest.of("POST", "/device-logins:look-up", body=body)
        return cast("DeviceLogin", self._sender.answer(request))

    def look_up_invitation(self, body: InvitationKeyBody) -> OpenInvitation:
        """What an invitation is to."""
        request = ApiRequest.of("POST", "/invitations:look-up", body=body)
        return cast("OpenInvitation", self._sender.answer(request))

    def open_shell(
        self, job_id: str, body: ShellBody
    ) -> AbstractContextManager[Iterator[ServerEvent]]:
        """Run a command beside a worker of a job, where the team may.

        The answer is `text/event-stream` and lasts as long as the command: when it is closed,
        the command is ended. The event `begin` tells the `shell` and the `worker`; `output` and
        `errors` bring bytes as base64 in `data`; `end` tells why it is over, as `end` with a
        `message`, and the `exit_code` if the command came to one. Send what is typed to
        `…/input`, and at least an empty piece every half a minute.
        """
        request = ApiRequest.of("POST", f"/jobs/{segment(job_id)}/shells", body=body)
        return self._sender.events(request)

    def pause_array(self, array_id: str, body: ReasonBody | None = None) -> SteeredArray:
        """Have all jobs of an array give back their GPUs after a checkpoint.

        Those to which it makes no difference stay as they are. If some of its live jobs are not
        the caller's to change, nothing is done.
        """
        request = ApiRequest.of("POST", f"/arrays/{segment(array_id)}/pause", body=body)
        return cast("SteeredArray", self._sender.answer(request))

    def pause_job(self, job_id: str, body: ReasonBody | None = None) -> JobDetail:
        """Give back a job's GPUs after a checkpoint.

        A job that holds GPUs first becomes `stopping`, until they are free.
        """
        request = ApiRequest.of("POST", f"/jobs/{segment(job_id)}/pause", body=body)
        return cast("JobDetail", self._sender.answer(request))

    def pause_schedule(
        self, name: str, schedule: str, body: ReasonBody | None = None
    ) -> ScheduleDetail:
        """Submit nothing by a schedule until somebody resumes it.

        Its jobs go on.
        """
        request = ApiRequest.of(
            "POST", f"/teams/{segment(name)}/schedules/{segment(schedule)}/pause", body=body
        )
        return cast("ScheduleDetail", self._sender.answer(request))

    def pin_job(self, job_id: str) -> JobDetail:
        """Keep all of a job, whatever its age.

        Of a pinned job that ended nothing is removed because it is old: neither logs,
        checkpoints and curves nor the job itself. A team may have 100 of them.
        """
        request = ApiRequest.of("POST", f"/jobs/{segment(job_id)}/pin")
        return cast("JobDetail", self._sender.answer(request))

    def poll_device_login(self, body: DeviceCodeBody) -> DeviceLoginState:
        """Whether somebody has confirmed or refused a login.

        Who asks more often than `interval` says is answered `slow_down`.
        """
        request = ApiRequest.of("POST", "/device-logins:poll", body=body)
        return cast("DeviceLoginState", self._sender.answer(request))

    def preview_setup(self, body: SetupBody) -> SetupOutcome:
        """What a document would change of the set-up (admins).

        Nothing is changed. It is refused as `apply_setup` would be.
        """
        request = ApiRequest.of("POST", "/cluster/setup:preview", body=body)
        return cast("SetupOutcome", self._sender.answer(request))

    def redeem_device_login(self, body: DeviceCodeBody) -> MadePersonalToken:
        """Get the token of a confirmed login, and read its key this once."""
        request = ApiRequest.of("POST", "/device-logins:redeem", body=body)
        return cast("MadePersonalToken", self._sender.answer(request))

    def refuse_device_login(self, body: UserCodeBody) -> None:
        """Let a command line have no token."""
        request = ApiRequest.of("POST", "/device-logins:refuse", body=body)
        self._sender.answer(request)

    def remove_member(self, name: str, member: str) -> None:
        """Take somebody out of a team (leads, admins).

        What they look at ends within seconds. Their jobs go on, and leads change them. The last
        lead is removed by an admin only.
        """
        request = ApiRequest.of("DELETE", f"/teams/{segment(name)}/members/{segment(member)}")
        self._sender.answer(request)

    def remove_prefetched_image(self, number: int) -> None:
        """Fetch it no longer; nodes keep what they have (admins)."""
        request = ApiRequest.of("DELETE", f"/prefetched-images/{segment(number)}")
        self._sender.answer(request)

    def replay_webhook_delivery(self, webhook: int, delivery: str) -> Delivery:
        """Send something again that was delivered, or is dead (leads, admins).

        With the same id, so whoever has it already can tell. One that waits is left as it is.
        """
        request = ApiRequest.of(
            "POST", f"/webhooks/{segment(webhook)}/deliveries/{segment(delivery)}/replay"
        )
        return cast("Delivery", self._sender.answer(request))

    def request_quota_preview(self, body: QuotaPreviewRequest) -> QuotaPreview:
        """Replay the recent past with other quotas, in the background.

        For admins, and for leads what they may change. Poll the preview's address until its
        state is final. Whoever asks alike within an hour is given what there is, with 200.
        """
        request = ApiRequest.of("POST", "/quota-previews", body=body)
        return cast("QuotaPreview", self._sender.answer(request))

    def request_quota_price(self, body: QuotaPriceRequest) -> QuotaPrice:
        """Find out what a GPU more or less is worth to a team, in the background.

        For leads of the team or one above, and admins. The recent past is replayed with each
        step, and without borrowing. Poll the address until the state is final. Whoever asks
        alike within an hour is given what there is, with 200.
        """
        request = ApiRequest.of("POST", "/quota-prices", body=body)
        return cast("QuotaPrice", self._sender.answer(request))

    def request_simulation(self, body: SimulationRequest) -> SimulationDetail:
        """Simulate a workload in the background.

        For admins; team leads may simulate generated and uploaded workloads. Poll the
        simulation's address until its state is final.
        """
        request = ApiRequest.of("POST", "/simulations", body=body)
        return cast("SimulationDetail", self._sender.answer(request))

    def rerun_job(
        self,
        job_id: str,
        body: Mapping[str, Any] | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> SubmittedJob:
        """Submit a job's spec once more.

        As it was in the end, with the changes in the body, a part of a job spec in JSON or
        YAML, of any of its fields. The first job stays as it is. The same `Idempotency-Key`
        with the same changes answers with the same job for 24 hours.
        """
        request = ApiRequest.of(
            "POST",
            f"/jobs/{segment(job_id)}/rerun",
            headers={"Idempotency-Key": one_key(idempotency_key)},
            body=body,
        )
        return cast("SubmittedJob", self._sender.answer(request))

    def resume_array(self, array_id: str, body: ReasonBody | None = None) -> SteeredArray:
        """Queue all paused jobs of an array again.

        Those to which it makes no difference stay as they are. If some of its live jobs are not
        the caller's to change, nothing is done.
        """
        request = ApiRequest.of("POST", f"/arrays/{segment(array_id)}/resume", body=body)
        return cast("SteeredArray", self._sender.answer(request))

    def resume_job(self, job_id: str, body: ReasonBody | None = None) -> JobDetail:
        """Queue a paused job again.

        A job that holds GPUs first becomes `stopping`, until they are free.
        """
        request = ApiRequest.of("POST", f"/jobs/{segment(job_id)}/resume", body=body)
        return cast("JobDetail", self._sender.answer(request))

    def resume_schedule(self, name: str, schedule: str) -> ScheduleDetail:
        """Go on with a schedule at the next time that is due.

        Whoever resumes it answers for it from then on: it submits in their name.
        """
        request = ApiRequest.of(
            "POST", f"/teams/{segment(name)}/schedules/{segment(schedule)}/resume"
        )
        return cast("ScheduleDetail", self._sender.answer(request))

    def revoke_invitation(self, name: str, invitation: int) -> None:
        """Make an open invitation useless (leads, admins)."""
        request = ApiRequest.of(
            "DELETE", f"/teams/{segment(name)}/invitations/{segment(invitation)}"
        )
        self._sender.answer(request)

    def revoke_personal_token(self, token: int) -> None:
        """Make a token of your own useless at once.

        What is followed with it ends within seconds. A token revokes only itself.
        """
        request = ApiRequest.of("DELETE", f"/personal-tokens/{segment(token)}")
        self._sender.answer(request)

    def revoke_token(self, name: str, token: int) -> None:
        """Make a token useless at once (leads, admins).

        What is followed with it ends within seconds. Its jobs go on.
        """
        request = ApiRequest.of("DELETE", f"/teams/{segment(name)}/tokens/{segment(token)}")
        self._sender.answer(request)

    def rotate_token(self, name: str, token: int, body: RotationBody | None = None) -> MadeToken:
        """Make a token in place of another, which opens for a while longer (leads, admins).

        The new one has the name of the former, and an id and a key of its own.
        """
        request = ApiRequest.of(
            "POST", f"/teams/{segment(name)}/tokens/{segment(token)}/rotate", body=body
        )
        return cast("MadeToken", self._sender.answer(request))

    def run_schedule(
        self, name: str, schedule: str, *, idempotency_key: str | None = None
    ) -> ScheduleRun:
        """Submit a schedule's spec now.

        In the name of whoever asks, beside its times; a paused one, too. Its `overlap` counts.
        The same `Idempotency-Key` answers with the same run as long as that is kept.
        """
        request = ApiRequest.of(
            "POST",
            f"/teams/{segment(name)}/schedules/{segment(schedule)}/run",
            headers={"Idempotency-Key": one_key(idempotency_key)},
        )
        return cast("ScheduleRun", self._sender.answer(request))

    def set_data_source(self, name: str, body: DataSourceBody) -> DataSource:
        """Add a source of data, or replace it (admins; of some kinds leads, or tokens).

        Leads do so with object stores, outputs and uploads for teams that they lead, tokens
        with uploads for their team. While live jobs use it, it can only be shared with more
        teams, be opened for writing, or be another upload, which they do not see.
        """
        request = ApiRequest.of("PUT", f"/data-sources/{segment(name)}", body=body)
        return cast("DataSource", self._sender.answer(request))

    def set_gpu_price(self, pool: str, since: date | str, body: GpuPriceBody) -> GpuPrice:
        """Have a pool's GPU-hours cost so much from a day on (admins).

        Until the day of its next price. From a day that is past it is refused, because reports
        of the past would change, unless `changes_past` is true.
        """
        request = ApiRequest.of("PUT", f"/gpu-prices/{segment(pool)}/{segment(since)}", body=body)
        return cast("GpuPrice", self._sender.answer(request))

    def set_model_alias(
        self, name: str, model: str, alias: str, body: ModelAliasBody
    ) -> ModelVersion:
        """Let a word mean a version of a model.

        Whatever it meant before.
        """
        request = ApiRequest.of(
            "PUT",
            f"/teams/{segment(name)}/models/{segment(model)}/aliases/{segment(alias)}",
            body=body,
        )
        return cast("ModelVersion", self._sender.answer(request))

    def set_secret(self, name: str, secret: str, body: SecretBody) -> Secret:
        """Set a secret, or replace it whole (leads and tokens of the team, admins).

        Jobs get the new values with their next worker.
        """
        request = ApiRequest.of(
            "PUT", f"/teams/{segment(name)}/secrets/{segment(secret)}", body=body
        )
        return cast("Secret", self._sender.answer(request))

    def start_device_login(self, body: PersonalTokenBody) -> StartedDeviceLogin:
        """Ask for a personal token that somebody grants in their browser.

        Nothing is granted yet. At most 20 wait of an address, and 500 in all, each for 10
        minutes.
        """
        request = ApiRequest.of("POST", "/device-logins", body=body)
        return cast("StartedDeviceLogin", self._sender.answer(request))

    def submit_job(self, body: JobSpec, *, idempotency_key: str | None = None) -> SubmittedJob:
        """Submit a job.

        The body is a job spec in JSON or YAML. The same `Idempotency-Key` with the same body
        answers with the same job for 24 hours.
        """
        request = ApiRequest.of(
            "POST", "/jobs", headers={"Idempotency-Key": one_key(idempotency_key)}, body=body
        )
        return cast("SubmittedJob", self._sender.answer(request))

    def submit_jobs(
        self, body: Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> SubmittedJobs:
        """Submit many jobs, all or none.

        The body is `jobs`, a list of job specs; or `spec`, a job spec, and `changes`: what
        differs in each job, by paths as in messages about specs: `elastic.max_workers`,
        `env.LR`, `command[3]`. A change without `name` gets the name of `spec` and a number
        from 1. Or the body is `spec` alone, with an `array`: a job for each of its trials. All
        jobs belong to one team. A refusal names each field with the place of its job, as in
        `jobs[3].elastic.min_workers`. `Idempotency-Key` as for one job.
        """
        request = ApiRequest.of(
            "POST", "/jobs:bulk", headers={"Idempotency-Key": one_key(idempotency_key)}, body=body
        )
        return cast("SubmittedJobs", self._sender.answer(request))

    def submit_sweep(
        self, body: Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> SweepDetail:
        """Search the best values of parameters by many trials.

        The body is a job spec with the field `sweep`. All trials are checked now; a few are
        submitted at once, and the others as places get free, in the name of whoever asks now
        and as long as they may submit. With `asha`, trials that fall behind are stopped early.
        `Idempotency-Key` as for one job.
        """
        request = ApiRequest.of(
            "POST", "/sweeps", headers={"Idempotency-Key": one_key(idempotency_key)}, body=body
        )
        return cast("SweepDetail", self._sender.answer(request))

    def test_webhook(self, webhook: int) -> Delivery:
        """Send a message to a webhook to see whether it comes through (leads, admins).

        It is sent within seconds; look among the deliveries how that went.
        """
        request = ApiRequest.of("POST", f"/webhooks/{segment(webhook)}/test")
        return cast("Delivery", self._sender.answer(request))

    def uncordon_node(self, name: str) -> NodeService:
        """Place work on a node again (admins)."""
        request = ApiRequest.of("POST", f"/nodes/{segment(name)}/uncordon")
        return cast("NodeService", self._sender.answer(request))

    def unpin_job(self, job_id: str) -> JobDetail:
        """Let a job go when its time has come.

        Of a pinned job that ended nothing is removed because it is old: neither logs,
        checkpoints and curves nor the job itself. A team may have 100 of them.
        """
        request = ApiRequest.of("POST", f"/jobs/{segment(job_id)}/unpin")
        return cast("JobDetail", self._sender.answer(request))

    def upload_code(
        self, name: str, digest: str, content: bytes, *, upload_length: int, upload_offset: int
    ) -> Upload:
        """Send the next piece of a snapshot of code.

        The archive is a tar compressed by gzip. Pieces come in order; the first one begins at
        byte 0. Where a piece is not the next one, the answer is 409 with the code
        `wrong_offset`; get_code_upload tells where to go on. With the last piece the snapshot
        is checked and unpacked: it is there whole, or nothing is left of it.
        """
        request = ApiRequest.of(
            "PUT",
            f"/teams/{segment(name)}/code/{segment(digest)}",
            headers={
                "Upload-Length": upload_length,
                "Upload-Offset": upload_offset,
                "Content-Type": "application/octet-stream",
            },
            content=content,
        )
        return cast("Upload", self._sender.answer(request))

    def upload_data(
        self, name: str, digest: str, content: bytes, *, upload_length: int, upload_offset: int
    ) -> Upload:
        """Send the next piece of a folder of data (leads and tokens of the team, admins).

        An upload is a line `concertina data 1 LENGTH`, LENGTH in eight digits, then the
        manifest of so many bytes, then the bytes of all files one after the other, in blocks of
        4 MiB. The manifest has a line `f SIZE NAME` for each file, `x SIZE NAME` for each
        program, in the order of names, and a line `b SHA256` for each block. No piece goes
        beyond the end of the manifest or of a block. Each block is checked when it comes. What
        is complete can become a source of data: set_data_source with its digest; if none names
        it, it goes after a day.
        """
        request = ApiRequest.of(
            "PUT",
            f"/teams/{segment(name)}/data/{segment(digest)}",
            headers={
                "Upload-Length": upload_length,
                "Upload-Offset": upload_offset,
                "Content-Type": "application/octet-stream",
            },
            content=content,
        )
        return cast("Upload", self._sender.answer(request))

    def validate_job(self, body: JobSpec, *, outlook: bool | None = None) -> Validation:
        """Check a job spec without submitting it.

        With `outlook`, the planner is asked as well: whether the job would start now and with
        how many workers, which jobs would give way, and when it starts and ends. Of a spec with
        an `array` or a `sweep` all trials are checked; what else is said is said of the first.
        """
        request = ApiRequest.of("POST", "/jobs:validate", params={"outlook": outlook}, body=body)
        return cast("Validation", self._sender.answer(request))

    def write_to_shell(self, job_id: str, shell: str, body: ShellInputBody) -> None:
        """Send what is typed to a command beside a worker.

        By whoever opened the shell. Refused with 429 while the command reads too slowly: send
        the same again a moment later.
        """
        request = ApiRequest.of(
            "POST", f"/jobs/{segment(job_id)}/shells/{segment(shell)}/input", body=body
        )
        self._sender.answer(request)
