"""How do admins manage teams, members, tokens and quotas in the browser?"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from tenancy.access.keys import team_tokens
from tenancy.errors import TenancyError
from tenancy.models import (
    FairShareSettings,
    ImageRule,
    Membership,
    ProviderIdentity,
    Quota,
    RetentionRule,
    Secret,
    Team,
    TeamLimits,
    Token,
    TokenScope,
)
from tenancy.single_sign_on.accounts import take_what_groups_gave

if TYPE_CHECKING:  # Django's classes take parameters only in the stubs
    TeamAdminBase = admin.ModelAdmin[Team]
    TokenAdminBase = admin.ModelAdmin[Token]
    TokenFormBase = forms.ModelForm[Token]
    SecretAdminBase = admin.ModelAdmin[Secret]
    ImageRuleAdminBase = admin.ModelAdmin[ImageRule]
    QuotaAdminBase = admin.ModelAdmin[Quota]
    FairShareSettingsAdminBase = admin.ModelAdmin[FairShareSettings]
    ProviderIdentityAdminBase = admin.ModelAdmin[ProviderIdentity]
    MembershipInlineBase = admin.TabularInline[Membership, Any]
    QuotaInlineBase = admin.TabularInline[Quota, Any]
    LimitsInlineBase = admin.StackedInline[TeamLimits, Any]
    RetentionInlineBase = admin.TabularInline[RetentionRule, Any]
    PersonAdminBase = UserAdmin[User]
else:
    TokenFormBase = forms.ModelForm
    TeamAdminBase = TokenAdminBase = SecretAdminBase = QuotaAdminBase = admin.ModelAdmin
    FairShareSettingsAdminBase = ImageRuleAdminBase = ProviderIdentityAdminBase = admin.ModelAdmin
    MembershipInlineBase = QuotaInlineBase = RetentionInlineBase = admin.TabularInline
    LimitsInlineBase = admin.StackedInline
    PersonAdminBase = UserAdmin


class MembershipInline(MembershipInlineBase):
    model = Membership
    extra = 0
    autocomplete_fields = ("user", "team")
    verbose_name_plural = "members"


class TeamQuotaInline(QuotaInlineBase):
    model = Quota
    extra = 0
    fields = (
        "team",
        "pool",
        "guaranteed_gpus",
        "limit_gpus",
        "lending_limit_gpus",
        "over_quota_weight",
    )


class LimitsInline(LimitsInlineBase):
    model = TeamLimits
    can_delete = False
    verbose_name_plural = "how many jobs may run, and how many GPUs and GPU-hours they use"


class RetentionInline(RetentionInlineBase):
    """The bounds that a team's leads choose within."""

    model = RetentionRule
    extra = 0
    verbose_name_plural = "for how long what its jobs leave is kept"


@admin.register(Team)
class TeamAdmin(TeamAdminBase):
    list_display = (
        *("name", "parent", "members", "guarantees", "network", "max_queued_jobs"),
        *("most_disk_gib", "disk_bytes"),
    )
    search_fields = ("name",)
    inlines = (TeamQuotaInline, LimitsInline, RetentionInline, MembershipInline)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Team]:
        teams = super().get_queryset(request).select_related("parent")
        counted = teams.annotate(member_count=Count("memberships", distinct=True))
        return counted.prefetch_related("quotas__pool")

    @admin.display(description="members", ordering="member_count")
    def members(self, team: Any) -> int:
        return int(team.member_count)

    @admin.display(description="guaranteed GPUs")
    def guarantees(self, team: Team) -> str:
        shares = [f"{quota.guaranteed_gpus} in {quota.pool.name}" for quota in team.quotas.all()]
        return ", ".join(shares) or "none"


@admin.register(Quota)
class QuotaAdmin(QuotaAdminBase):
    """One table for all quotas; guarantees are checked against the pool before they are saved."""

    list_display = (
        "team",
        "pool",
        "guaranteed_gpus",
        "limit_gpus",
        "lending_limit_gpus",
        "over_quota_weight",
    )
    list_filter = ("pool", "team")
    list_select_related = ("team", "pool")
    autocomplete_fields = ("team",)


@admin.register(FairShareSettings)
class FairShareSettingsAdmin(FairShareSettingsAdminBase):
    """How idle GPUs of a pool are shared out, and how they come back."""

    list_display = (
        "pool",
        "reclaim_target",
        "reclaim_seconds",
        "reclaim_delay_seconds",
        "reclaim_min_runtime_seconds",
        "usage_weight",
        "half_life_hours",
    )


class ScopesField(forms.MultipleChoiceField):
    """A choice of scopes; none chosen means that there is no bound."""

    widget = forms.CheckboxSelectMultiple

    def __init__(self, **more: Any) -> None:
        super().__init__(choices=TokenScope.choices, **more)

    def clean(self, value: Any) -> Any:
        return super().clean(value) or None


class TokenForm(TokenFormBase):
    """A new token has the bounds of those that leads make."""

    def clean(self) -> dict[str, Any]:
        found: dict[str, Any] = super().clean() or self.cleaned_data
        team, name = found.get("team"), found.get("name")
        if self.instance.pk is None and team is not None and name:
            try:
                team_tokens.check_may_be_made(team, name)
            except TenancyError as refusal:
                raise forms.ValidationError(str(refusal)) from refusal
        return found


@admin.register(Token)
class TokenAdmin(TokenAdminBase):
    """Tokens are made, shown once, and revoked; their keys cannot be read again."""

    list_display = (
        "name",
        "team",
        "prefix",
        "state",
        "scopes",
        "expires_at",
        "last_used_at",
        "last_used_from",
    )
    form = TokenForm
    list_filter = ("team",)
    search_fields = ("name", "prefix")
    readonly_fields = (
        *("pools", "labels", "prefix", "created_at", "created_by", "revoked_at"),
        *("last_used_at", "last_used_from"),
    )
    fields = ("team", "name", "scopes", "expires_at", *readonly_fields)
    actions = ("revoke",)

    def get_fields(self, request: HttpRequest, obj: Token | None = None) -> Any:
        return super().get_fields(request, obj) if obj else ("team", "name", "scopes", "expires_at")

    def get_readonly_fields(self, request: HttpRequest, obj: Token | None = None) -> Any:
        own = super().get_readonly_fields(request, obj)
        return ("team", "name", "scopes", *own) if obj else own

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **more: Any) -> Any:
        """Offer the scopes to be chosen from."""
        if db_field.name == "scopes":
            return ScopesField(required=False, help_text="None chosen: all that tokens may.")
        return super().formfield_for_dbfield(db_field, request, **more)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Offer the usual expiry; an admin may make it later, or leave it away."""
        usual = timezone.now() + timedelta(days=team_tokens.USUAL_DAYS)
        return {"expires_at": usual, **super().get_changeform_initial_data(request)}

    def save_model(self, request: HttpRequest, obj: Token, form: Any, change: Any) -> None:
        if change:
            super().save_model(request, obj, form, change)
            return
        made, key = team_tokens.make_until(
            request.user.get_username(), obj.team, obj.name, obj.expires_at, scopes=obj.scopes
        )
        obj.pk, obj.prefix, obj.digest = made.pk, made.prefix, made.digest
        request.META["concertina.new_key"] = key  # for response_add, and nowhere else

    def response_add(
        self,
        request: HttpRequest,
        obj: Token,
        post_url_continue: str | None = None,  # noqa: ARG002 - Django's signature
    ) -> HttpResponse:
        """Show the key this once."""
        context = {
            **self.admin_site.each_context(request),
            "title": "The new token's key",
            "opts": self.opts,
            "token": obj,
            "key": request.META["concertina.new_key"],
        }
        page = TemplateResponse(request, "admin/tenancy/token/issued.html", context)
        page.headers["Cache-Control"] = "no-store"
        return page

    @admin.display(description="state")
    def state(self, token: Token) -> str:
        return token.state

    @admin.action(description="Revoke the selected tokens")
    def revoke(self, request: HttpRequest, chosen: QuerySet[Token]) -> None:
        by = request.user.get_username()
        revoked = sum(
            team_tokens.revoke(by, one.team, one) for one in chosen.select_related("team")
        )
        self.message_user(request, f"{revoked} tokens no longer work.")


@admin.register(Secret)
class SecretAdmin(SecretAdminBase):
    """The secrets that teams keep, without values; teams set them in the dashboard or client."""

    list_display = ("name", "team", "kind", "variables", "registry", "updated_at", "updated_by")
    list_filter = ("team", "kind")
    list_select_related = ("team",)
    search_fields = ("name", "registry")

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 - Django's signature
        return False

    def has_change_permission(
        self,
        request: HttpRequest,  # noqa: ARG002 - Django's signature
        obj: Secret | None = None,  # noqa: ARG002 - Django's signature
    ) -> bool:
        return False


@admin.register(ImageRule)
class ImageRuleAdmin(ImageRuleAdminBase):
    """Which images jobs may run; without a rule only the platform's own."""

    list_display = ("pattern", "team", "created_at")
    list_filter = ("team",)
    list_select_related = ("team",)
    autocomplete_fields = ("team",)


@admin.register(ProviderIdentity)
class ProviderIdentityAdmin(ProviderIdentityAdminBase):
    """Who is who at the identity provider; a new row joins an account that is there to theirs."""

    list_display = ("person", "subject", "issuer", "mail", "made_admin", "is_shut_out")
    list_select_related = ("person",)
    search_fields = ("person__username", "subject", "mail")
    autocomplete_fields = ("person",)
    readonly_fields = ("mail", "made_admin", "is_shut_out", "confirmed_at")

    def get_readonly_fields(self, request: HttpRequest, obj: ProviderIdentity | None = None) -> Any:
        """Keep whose it is, for what groups gave is theirs: delete it and make another."""
        own = super().get_readonly_fields(request, obj)
        return ("person", "issuer", "subject", *own) if obj else own

    def delete_model(self, request: HttpRequest, obj: ProviderIdentity) -> None:
        """Take what groups gave: nobody else would take it once the row is gone."""
        take_what_groups_gave(obj)
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[ProviderIdentity]) -> None:
        with transaction.atomic():
            for identity in queryset.select_related("person"):
                take_what_groups_gave(identity)
            super().delete_queryset(request, queryset)


class PersonAdmin(PersonAdminBase):
    """Django's users, with the teams they are in; beyond those there are platform admins only."""

    inlines = (MembershipInline,)
    list_display = ("username", "email", "teams", "is_superuser", "last_login")
    list_filter = ("is_superuser", "is_active")
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("Access", {"fields": ("is_active", "is_superuser")}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: Any) -> None:
        """Keep the two marks together of which Django's own form for signing in asks for one."""
        obj.is_staff = obj.is_superuser
        super().save_model(request, obj, form, change)
        # What an admin has switched, on or off, no sign-in switches.
        if "is_active" in form.changed_data:
            ProviderIdentity.objects.filter(person=obj).update(is_shut_out=False)
        if "is_superuser" in form.changed_data:
            ProviderIdentity.objects.filter(person=obj).update(made_admin=False)

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return super().get_queryset(request).prefetch_related("memberships__team")

    @admin.display(description="teams")
    def teams(self, user: Any) -> str:
        return ", ".join(f"{place.team.name} ({place.role})" for place in user.memberships.all())


admin.site.unregister(Group)
admin.site.unregister(User)
admin.site.register(User, PersonAdmin)
