"""Which address under /api/v1 leads to which endpoint about simulations?"""

from __future__ import annotations

from django.urls import path

from autoscaler.simulation.api.rest import views

urlpatterns = [
    path("simulations", views.SimulationsView.as_view()),
    path("simulations/<job:simulation_id>", views.SimulationView.as_view()),
    path("simulations/<job:simulation_id>/cancel", views.SimulationCancelView.as_view()),
    path("simulations/<job:simulation_id>/report", views.ReportView.as_view()),
]
