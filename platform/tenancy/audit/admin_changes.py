"""What did a form of the administration change? Its site has each of its pages say so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.contrib import admin
from django.db import models
from django.http import HttpRequest

from tenancy.audit import records
from tenancy.audit.values import HIDDEN
from tenancy.models import Team

if TYPE_CHECKING:  # Django's class takes parameters only in the stubs
    AnyAdmin = admin.ModelAdmin[Any]
else:
    AnyAdmin = admin.ModelAdmin
_SECRET: Final = ("password", "usable_password")


class NotesChanges(AnyAdmin):
    """A page that notes what is changed by it, and what is deleted."""

    def construct_change_message(
        self,
        request: HttpRequest,
        form: Any,
        formsets: Any,
        add: bool = False,  # noqa: FBT001, FBT002 - as Django has it
    ) -> Any:
        """Note each field that differs, before and after."""
        changed = [form, *_changed_forms(formsets or ())]
        before = {} if add else _merged(_before(one, is_first=one is form) for one in changed)
        after = _merged(_after(one, is_first=one is form) for one in changed)
        for gone in (gone for one in formsets or () for gone in one.deleted_objects):
            before[_name(gone)] = "(there)"
            after[_name(gone)] = "(deleted)"
        row = form.instance if isinstance(form, forms.ModelForm) else None
        if row is not None:
            place = f"admin/{self.opts.app_label}/{self.opts.model_name}/{row.pk}"
            records.note_target(team_id=_team_of(row), target=place)
        records.note_change(before=before or None, after=after or None)
        return super().construct_change_message(request, form, formsets, add)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        records.note_target(team_id=_team_of(obj))
        records.note_change(before={"deleted": str(obj)})
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        records.note_change(before={"deleted": [str(one) for one in queryset]})
        super().delete_queryset(request, queryset)


def noting(page: type[Any]) -> type[Any]:
    """Return the page, with what notes its changes."""
    return type(page.__name__, (NotesChanges, page), {"__module__": page.__module__})


def _changed_forms(formsets: Sequence[Any]) -> Iterator[Any]:
    for formset in formsets:
        yield from (form for form in formset.forms if form.has_changed())


def _before(form: Any, *, is_first: bool) -> Mapping[str, Any]:
    return _fields(form, is_first, lambda name: form.get_initial_for_field(form.fields[name], name))


def _after(form: Any, *, is_first: bool) -> Mapping[str, Any]:
    return _fields(form, is_first, form.cleaned_data.get)


def _fields(form: Any, is_first: bool, value_of: Any) -> Mapping[str, Any]:  # noqa: FBT001 - one of two
    found = {
        name: _shown(form, name, value_of) for name in form.changed_data if name in form.fields
    }
    return found if is_first else {_name(form.instance): found}


def _shown(form: Any, name: str, value_of: Any) -> Any:
    is_hidden = isinstance(form.fields[name].widget, forms.PasswordInput)
    if is_hidden or name.startswith(_SECRET):
        return HIDDEN
    value = value_of(name)
    if callable(value):
        value = value()
    if isinstance(value, models.QuerySet | list | tuple | set):
        return [_plain(one) for one in value]
    return _plain(value)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, models.Model) else value


def _merged(parts: Iterator[Mapping[str, Any]]) -> dict[str, Any]:
    return {name: value for part in parts for name, value in part.items()}


def _name(row: Any) -> str:
    return f"{row._meta.verbose_name} {row}"  # noqa: SLF001 - its name


def _team_of(row: Any) -> int | None:
    found: int | None = row.pk if isinstance(row, Team) else getattr(row, "team_id", None)
    return found
