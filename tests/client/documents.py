"""Documents as the service sends them, with the few fields a test cares about replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from concertina.documents import Event, Explanation, Generation, JobDetail, Team, Worker


_SUBMITTED = {
    "id": "abcdefghjk",
    "name": "digits-a",
    "team": "vision",
    "pool": "default",
    "state": "running",
    "reason": "best_allocation",
    "message": "Keeps 3 workers.",
    "priority": 50,
    "mode": "hot",
    "attempt": 1,
    "generation": 2,
    "failures": 0,
    "losses": 0,
    "rescales": 1,
    "submitted_by": "ada",
    "submitted_at": "2026-11-21T07:00:00Z",
    "started_at": "2026-11-21T07:00:02Z",
    "finished_at": None,
    "last_rescaled_at": "2026-11-21T07:01:00Z",
}
_TRAINS = {
    "workers": 3,
    "workers_desired": 3,
    "min_workers": 1,
    "max_workers": 4,
    "global_batch_size": 256,
    "progress": 0.42,
    "epoch": 4.2,
    "total_epochs": 10,
    "step": 1234,
    "samples": 45612,
    "total_samples": 100000,
    "samples_per_second": 812.5,
    "noise_scale": None,
    "batch_limit": None,
    "values": {"accuracy": 0.91, "loss": 0.312},
}
_COSTS = {
    "gpu_seconds": 95.0,
    "completion_seconds": None,
    "trained_seconds": 60.0,
    "stall_seconds": 0.24,
    "longest_stall_seconds": 0.083,
    "lost_work_seconds": 0.0,
    "eta_seconds": 65.0,
    "prediction": None,
    "labels": {},
}


def job(**changes: object) -> JobDetail:
    """A job that trains."""
    return cast("JobDetail", {**_SUBMITTED, **_TRAINS, **_COSTS, **changes})


def waiting_job(**changes: object) -> JobDetail:
    """A job that has never started: most of its numbers are not known yet."""
    unknown = dict.fromkeys(("started_at", "last_rescaled_at", "progress", "total_samples"))
    unknown |= dict.fromkeys(("global_batch_size", "eta_seconds", "total_epochs"))
    zero = dict.fromkeys(("workers", "workers_desired", "step", "samples", "attempt"), 0)
    return job(**{**unknown, **zero, "state": "queued", "values": {}, **changes})


def event(**changes: object) -> Event:
    return cast(
        "Event",
        {
            "id": 1,
            "at": "2026-11-21T07:01:00Z",
            "kind": "state_changed",
            "old_state": "running",
            "new_state": "rescaling",
            "reason": "job_arrived",
            "message": "Shrinks from 4 to 3 workers.",
            "data": {},
            **changes,
        },
    )


def generation(**changes: object) -> Generation:
    return cast(
        "Generation",
        {
            "number": 2,
            "attempt": 1,
            "revision": 2,
            "workers": 3,
            "worker_ids": ["a", "b", "c"],
            "global_batch_size": 256,
            "reason": "job_arrived",
            "message": "Shrinks from 4 to 3 workers.",
            "began_at": "2026-11-21T07:01:00Z",
            "ended_at": None,
            "step": 700,
            "stall_seconds": 0.083,
            "idle_seconds": 0.0,
            "transfer_seconds": 0.16,
            "lost_steps": 0,
            "lost_work_seconds": 0.0,
            "lost_worker_ids": [],
            "predicted_gain": -0.25,
            "measured_gain": -0.22,
            **changes,
        },
    )


def worker(**changes: object) -> Worker:
    return cast(
        "Worker",
        {
            "id": "abcdefghjk-1-0",
            "phase": "training",
            "node": "node-1",
            "gpu_indices": [0],
            "attempt": 1,
            "created_at": "2026-11-21T07:00:00Z",
            "gone_at": None,
            "exit_code": None,
            "error": "",
            "compute_seconds": None,
            "relative_speed": None,
            "is_straggler": False,
            "gpu_utilisation": None,
            "gpu_memory_bytes": None,
            "gpu_memory_total_bytes": None,
            **changes,
        },
    )


def explanation(**changes: object) -> Explanation:
    return cast(
        "Explanation",
        {
            "job_id": "abcdefghjk",
            "action": "keep",
            "reason": "best_allocation",
            "message": "Keeps 3 workers: a 4th would speed it up by 6 %.",
            "workers": 3,
            "global_batch_size": 256,
            "choices": [
                {
                    "workers": count,
                    "global_batch_size": 256,
                    "samples_per_second": 300.0 * count,
                    "speedup": float(count),
                    "value": 0.5 * count,
                }
                for count in (2, 3, 4)
            ],
            "price": 0.06,
            "position": None,
            "gpus_asked": 3,
            "gpus_free": 0,
            "decided_at": "2026-11-21T07:01:00Z",
            "remedy": None,
            "details": {
                "kind": "running",
                "next_step": {"workers": 4, "gpus": 1, "gain": 0.06},
                "rival": {
                    "job": {"job_id": None, "name": None, "team": "language"},
                    "workers": 2,
                    "gpus": 1,
                    "gain": 0.31,
                },
            },
            "changes": [{"reason": "job_arrived", "message": "x", "at": "2026-11-21T07:01:00Z"}],
            **changes,
        },
    )


def team(**changes: object) -> Team:
    return cast(
        "Team",
        {
            "name": "vision",
            "parent": None,
            "guaranteed": 2,
            "limit": None,
            "fair_share": 2.5,
            "allocated": 3,
            "borrowed": 1,
            "lent": 0,
            "waiting": 0,
            "running_jobs": 1,
            "waiting_jobs": 0,
            **changes,
        },
    )
