"""Is a change there if and only if its entry is, and what does nobody have to wait for?"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from cluster.models import Pool
from control_plane.api.audit.middleware import AuditMiddleware
from control_plane.api.audit.operations import asked_by
from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.test import RequestFactory
from django.urls import resolve
from tenancy.access.keys import tokens
from tenancy.models import AuditEntry, AuditOutcome, Quota, Team, Token


def asking(path: str) -> HttpRequest:
    request = RequestFactory().post(path)
    request.resolver_match = resolve(path)
    return request


def answer_of(view: Callable[[HttpRequest], HttpResponse]) -> HttpResponseBase:
    """What a view answers that stands where jobs are submitted."""

    def get_response(request: HttpRequest) -> HttpResponseBase:
        answer = middleware.process_view(request, view, (), {})
        assert answer is not None
        return answer

    middleware = AuditMiddleware(get_response)
    return middleware(asking("/api/v1/jobs"))


def test_what_a_view_wrote_before_it_refused_is_undone(db: None) -> None:
    def write_and_refuse(_: HttpRequest) -> HttpResponse:
        Team.objects.create(name="half-made")
        return HttpResponse(status=409)

    assert answer_of(write_and_refuse).status_code == 409
    assert not Team.objects.filter(name="half-made").exists()
    assert [(row.outcome, row.answer) for row in AuditEntry.objects.all()] == [
        (AuditOutcome.FAILED, 409)
    ]


@pytest.mark.django_db(transaction=True)
def test_a_change_that_fails_at_its_very_end_is_told_as_failed() -> None:
    pool = Pool.objects.create(name="default")

    def write_for_nobody(_: HttpRequest) -> HttpResponse:
        Quota.objects.create(team_id=-1, pool=pool, guaranteed_gpus=1)  # checked by COMMIT
        return HttpResponse(status=201)

    assert answer_of(write_for_nobody).status_code == 409
    assert [(row.outcome, row.answer) for row in AuditEntry.objects.all()] == [
        (AuditOutcome.FAILED, 409)
    ]


@pytest.mark.django_db(transaction=True)
def test_a_change_that_takes_long_holds_no_lock_on_its_token() -> None:
    token, key = tokens.issue(team=Team.objects.create(name="vision"), name="ci")
    other = connection.copy()
    try:
        with transaction.atomic():
            assert tokens.find_valid(key, address="10.0.0.1") == token
            with other.cursor() as cursor:  # as who uses it at the same time, or revokes it
                cursor.execute(
                    "SELECT FROM tenancy_token WHERE id = %s FOR UPDATE NOWAIT", [token.pk]
                )
    finally:
        other.close()
    assert Token.objects.get().last_used_from == "10.0.0.1"


@pytest.mark.parametrize("path", ["/admin/login/", "/api/v1/session"])
def test_no_transaction_waits_for_a_password_to_be_hashed(path: str) -> None:
    asked = asked_by(asking(path))
    assert asked is not None
    assert not asked.is_together
