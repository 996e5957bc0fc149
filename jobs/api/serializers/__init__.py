"""What does the API say about jobs? One serializer per document, nothing computed twice.

job, worker, generation, event, metric, usage, prediction  one kind of document each
explanation  why a job has what it has: one document for each kind of explanation
batch_worth  how far the gradient noise supports the range of batches
validation   what a check of a spec found
vocabulary   codes as choices of the API's description
finite       numbers that JSON can hold
"""

from jobs.api.serializers.event import EventListSerializer, FeedEventSerializer, FeedPageSerializer
from jobs.api.serializers.explanation.explanation import ExplanationSerializer
from jobs.api.serializers.generation import GenerationListSerializer
from jobs.api.serializers.job import (
    JobDetailSerializer,
    JobPageSerializer,
    SubmittedJobSerializer,
    SubmittedJobsSerializer,
)
from jobs.api.serializers.metric import MetricListSerializer, SparklineListSerializer
from jobs.api.serializers.usage import UsageSerializer
from jobs.api.serializers.validation import ValidationSerializer
from jobs.api.serializers.worker import WorkerListSerializer

__all__ = [
    "EventListSerializer",
    "ExplanationSerializer",
    "FeedEventSerializer",
    "FeedPageSerializer",
    "GenerationListSerializer",
    "JobDetailSerializer",
    "JobPageSerializer",
    "MetricListSerializer",
    "SparklineListSerializer",
    "SubmittedJobSerializer",
    "SubmittedJobsSerializer",
    "UsageSerializer",
    "ValidationSerializer",
    "WorkerListSerializer",
]
