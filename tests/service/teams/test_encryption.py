"""Do secrets stay closed to all but the right key and place, and survive a new key?"""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings
from tenancy.models import Secret, Team
from tenancy.secrets import encryption, team_secrets
from tenancy.secrets.values import SecretVariables

OLD, NEW = "old-" + "x" * 40, "new-" + "x" * 40


@pytest.fixture
def kept(vision: Team, settings: Settings) -> Secret:
    """A secret that was sealed under the old key."""
    settings.SECRET_KEY = OLD
    content = SecretVariables(values={"TOKEN": "canary"})
    return team_secrets.put(team=vision, name="wandb", content=content, by="tests")[0]


def test_what_is_sealed_shows_nothing(kept: Secret) -> None:
    for text in (
        kept.sealed,
        repr(kept),
        str(vars(kept)),
        repr(SecretVariables(values={"A": "canary"})),
    ):
        assert "canary" not in text


def test_a_row_that_is_copied_to_another_place_does_not_open(kept: Secret, language: Team) -> None:
    Secret.objects.create(team=language, name="wandb", kind=kept.kind, sealed=kept.sealed)
    with pytest.raises(team_secrets.SecretUnavailable):
        team_secrets.environment_of(language, ["wandb"])


def test_a_new_key_opens_what_an_earlier_one_sealed_until_that_is_dropped(
    kept: Secret, settings: Settings
) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [OLD]
    assert team_secrets.environment_of(kept.team, ["wandb"]) == {"TOKEN": "canary"}
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(team_secrets.SecretUnavailable, match="secret key was changed"):
        team_secrets.environment_of(kept.team, ["wandb"])
    with pytest.raises(CommandError, match="No key opens vision/wandb"):
        call_command("reseal_secrets", stdout=io.StringIO())


def test_resealed_secrets_need_the_newest_key_only(kept: Secret, settings: Settings) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [OLD]
    said = io.StringIO()
    call_command("reseal_secrets", stdout=said)
    assert said.getvalue().startswith("1 secrets")
    settings.SECRET_KEY_FALLBACKS = []
    assert team_secrets.environment_of(kept.team, ["wandb"]) == {"TOKEN": "canary"}


def test_another_purpose_of_the_same_secret_key_has_another_key(settings: Settings) -> None:
    sealed = encryption.encrypt({"a": "b"}, place="1/a")
    assert encryption.decrypt(sealed, place="1/a") == {"a": "b"}
    with pytest.raises(encryption.CannotDecrypt):
        encryption.decrypt(sealed, place="1/b")
    with pytest.raises(encryption.CannotDecrypt):
        encryption.decrypt("no token", place="1/a")
