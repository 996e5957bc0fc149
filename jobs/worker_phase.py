"""How far can a worker be?"""

from __future__ import annotations

from autoscaler.coded_words import CodedWord


class WorkerPhase(CodedWord):
    """How far a worker is, as its row says."""

    STARTING = "starting", "starting: claims its GPUs; the worker host was asked"
    READY = "ready", "ready: registered and warm"
    TRAINING = "training", "training: member of the active generation"
    LEAVING = "leaving", "leaving: no longer wanted"
    GONE = "gone", "gone: seen to have ended; its GPUs are free"
