"""How do admins say what GPUs cost?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin

from autoscaler.gpu_accounts.models import GpuPrice

if TYPE_CHECKING:  # Django's classes take parameters only in the stubs
    GpuPriceAdminBase = admin.ModelAdmin[GpuPrice]
else:
    GpuPriceAdminBase = admin.ModelAdmin


@admin.register(GpuPrice)
class GpuPriceAdmin(GpuPriceAdminBase):
    list_display = ("pool", "since", "per_gpu_hour")
    list_filter = ("pool",)
