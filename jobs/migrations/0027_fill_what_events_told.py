"""What was asked of the events of live jobs until now is put into the columns that replace them."""

from __future__ import annotations

from typing import Final

from django.db import migrations

STATEMENTS: Final = (
    """
    CREATE TEMPORARY VIEW live_event AS
    SELECT event.* FROM jobs_event AS event JOIN jobs_job AS job ON job.id = event.job_id
    WHERE job.state NOT IN ('completed', 'failed', 'cancelled')
    """,
    """
    UPDATE jobs_job AS job SET state_since = found.at
    FROM (
        SELECT job_id, new_state, max(at) AS at FROM live_event
        WHERE kind = 'state_changed' GROUP BY job_id, new_state
    ) AS found
    WHERE job.id = found.job_id AND job.state = found.new_state
    """,
    """
    UPDATE jobs_job AS job SET coordinator_restarts = found.times
    FROM (
        SELECT event.job_id, count(*) AS times
        FROM live_event AS event JOIN jobs_job AS of ON of.id = event.job_id
        WHERE event.kind = 'coordinator_restarted' AND event.at > of.state_since
        GROUP BY event.job_id
    ) AS found
    WHERE job.id = found.job_id
    """,
    """
    UPDATE jobs_job AS job SET preparation_notice_revision = found.revision
    FROM (
        SELECT job_id, max((data ->> 'revision')::integer) AS revision FROM live_event
        WHERE kind = 'preparing' GROUP BY job_id
    ) AS found
    WHERE job.id = found.job_id
    """,
    """
    UPDATE jobs_job AS job SET disk_notice_start = found.start
    FROM (
        SELECT job_id, max((data ->> 'starts')::integer) AS start FROM live_event
        WHERE kind = 'disk_filling' GROUP BY job_id
    ) AS found
    WHERE job.id = found.job_id
    """,
    """
    UPDATE jobs_job AS job SET planning_failures = found.times, planning_failed_at = found.at
    FROM (
        SELECT job_id, count(*) AS times, max(at) AS at FROM live_event
        WHERE kind = 'planning_failed' AND at > now() - interval '1 day' GROUP BY job_id
    ) AS found
    WHERE job.id = found.job_id
    """,
    """
    UPDATE jobs_worker AS worker SET
        counted_at = found.at,
        counted_revision = (found.data ->> 'revision')::integer,
        last_lines = CASE
            WHEN found.kind = 'worker_failed' THEN coalesce(found.data -> 'log', '[]'::jsonb)
            ELSE '[]'::jsonb
        END
    FROM live_event AS found
    WHERE worker.job_id = found.job_id AND worker.id = found.data ->> 'worker'
        AND found.kind IN ('worker_failed', 'worker_lost', 'worker_not_started')
    """,
    """
    UPDATE jobs_worker AS worker SET silence_notice_at = found.at
    FROM cluster_node AS node, (
        SELECT job_id, data ->> 'node' AS name, max(at) AS at FROM live_event
        WHERE kind = 'node_silent' GROUP BY job_id, data ->> 'node'
    ) AS found
    WHERE worker.job_id = found.job_id AND worker.node_id = node.id AND node.name = found.name
    """,
    """
    UPDATE jobs_worker AS worker SET slowness_notice_at = found.at
    FROM cluster_node AS node, (
        SELECT job_id, data ->> 'node' AS name, max(at) AS at FROM jobs_event
        WHERE kind = 'node_is_slow' AND at > now() - interval '1 day'
        GROUP BY job_id, data ->> 'node'
    ) AS found
    WHERE worker.job_id = found.job_id AND worker.node_id = node.id AND node.name = found.name
    """,
    """
    UPDATE jobs_worker AS worker SET
        straggler_found_at = found.at, straggler_gpus = coalesce(found.gpus, '[]'::jsonb)
    FROM (
        SELECT DISTINCT ON (data ->> 'worker') data ->> 'worker' AS id, at, data -> 'gpus' AS gpus
        FROM jobs_event WHERE kind = 'straggler_found' AND at > now() - interval '1 day'
        ORDER BY data ->> 'worker', at DESC
    ) AS found
    WHERE worker.id = found.id
    """,
    "DROP VIEW live_event",
)


class Migration(migrations.Migration):
    dependencies = [
        ("cluster", "0001_initial"),
        ("jobs", "0026_what_events_told_as_columns"),
    ]

    operations = [migrations.RunSQL(list(STATEMENTS), migrations.RunSQL.noop, elidable=True)]
