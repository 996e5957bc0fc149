"""Why is somebody not let in? One class for each reason; the sign-in page says what to do."""

from __future__ import annotations

from tenancy.errors import TenancyError


class SignInRefused(TenancyError):
    """Somebody could not sign in by the identity provider."""

    code, status = "sign_in_refused", 403

    def __init__(self, told: str = "") -> None:
        self.told = told  # to admins, in the log
        super().__init__()


class ProviderOff(SignInRefused):
    """No identity provider is set up here; sign in with a password."""

    code, status = "provider_off", 404


class ProviderAway(SignInRefused):
    """The identity provider does not answer as it should; try again soon, or tell an admin."""

    code, status = "provider_away", 502


class ProviderBusy(SignInRefused):
    """Many people sign in at this moment; try again in a few seconds."""

    code, status = "provider_busy", 503


class ProviderSaidNo(SignInRefused):
    """The identity provider did not let you in, or you went back."""

    code = "provider_said_no"


class NobodyVouched(SignInRefused):
    """No proxy of ours says who you are; come by its address, or sign in another way."""

    code, status = "nobody_vouched", 403


class SignInInterrupted(SignInRefused):
    """The sign-in took too long, or was begun in another browser or tab; begin it again."""

    code, status = "sign_in_interrupted", 400


class AnswerInvalid(SignInRefused):
    """What the identity provider answered proves nothing; begin again, and else tell an admin."""

    code = "answer_invalid"


class NotInAGroup(SignInRefused):
    """None of the person's groups may use this installation; whoever manages groups can say."""

    code = "not_in_a_group"


class MailNotAdmitted(SignInRefused):
    """Only people with a confirmed mail address of certain domains are let in."""

    code = "mail_not_admitted"


class TooManyGroups(SignInRefused):
    """The provider names more groups than are read; let it name only those that matter here."""

    code = "too_many_groups"


class AccountSwitchedOff(SignInRefused):
    """The account is switched off here; an admin can switch it on."""

    code = "account_off"
