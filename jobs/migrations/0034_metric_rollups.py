"""Rolled-up points, in partitions that are dropped when they are old.

Partitions are made and dropped by two functions that run as the tables' owner, because the services
themselves may not change the schema. A partition is attached, which keeps nobody waiting; to
drop one takes a lock for a moment, and is given up after a second.
"""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models

TABLE = """
CREATE TABLE jobs_metricrollup (
    job_id varchar(12) NOT NULL,
    generation integer NOT NULL CHECK (generation >= 0),
    bucket timestamptz NOT NULL,
    width smallint NOT NULL CHECK (width >= 0),
    points integer NOT NULL CHECK (points >= 0),
    first_at timestamptz NOT NULL,
    first_samples bigint NOT NULL,
    at timestamptz NOT NULL,
    step bigint NOT NULL,
    epoch double precision NOT NULL,
    samples bigint NOT NULL,
    learning_rate double precision NOT NULL,
    "values" jsonb NOT NULL,
    samples_per_second double precision NOT NULL,
    step_seconds double precision NOT NULL,
    compute_seconds double precision NOT NULL,
    communication_seconds double precision NOT NULL,
    PRIMARY KEY (job_id, generation, bucket, width)
) PARTITION BY LIST (width);
CREATE TABLE jobs_metricrollup_10 PARTITION OF jobs_metricrollup
    FOR VALUES IN (10) PARTITION BY RANGE (bucket);
CREATE TABLE jobs_metricrollup_60 PARTITION OF jobs_metricrollup
    FOR VALUES IN (60) PARTITION BY RANGE (bucket);
CREATE TABLE jobs_metricrollup_600 PARTITION OF jobs_metricrollup
    FOR VALUES IN (600) PARTITION BY RANGE (bucket);
"""

# Names of partitions end with the second, since 1970, at which they begin.
MAKE = """
CREATE FUNCTION jobs_make_rollup_partition(width integer, span integer, moment timestamptz)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp SET lock_timeout = '1s' AS $$
DECLARE
    begins bigint := floor(extract(epoch FROM moment) / span)::bigint * span;
    tier text := 'jobs_metricrollup_' || width;
    name text := tier || '_' || begins;
BEGIN
    IF to_regclass(name) IS NOT NULL THEN RETURN; END IF;
    PERFORM pg_advisory_xact_lock(hashtext('jobs_metricrollup'));
    IF to_regclass(name) IS NOT NULL THEN RETURN; END IF;
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', name, tier);
    EXECUTE format(
        'ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
        tier, name, to_timestamp(begins), to_timestamp(begins + span)
    );
END
$$;
"""
DROP = """
CREATE FUNCTION jobs_drop_rollup_partitions(width integer, span integer, before timestamptz)
RETURNS integer LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp SET lock_timeout = '1s' AS $$
DECLARE
    tier text := 'jobs_metricrollup_' || width;
    name text;
    dropped integer := 0;
BEGIN
    FOR name IN
        SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = tier::regclass ORDER BY 1
    LOOP
        IF to_timestamp(split_part(name, '_', 4)::bigint + span) <= before THEN
            EXECUTE format('DROP TABLE %I', name);
            dropped := dropped + 1;
        END IF;
    END LOOP;
    RETURN dropped;
END
$$;
"""


class Migration(migrations.Migration):
    dependencies = [("jobs", "0033_code_snapshots")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(TABLE, "DROP TABLE jobs_metricrollup"),
                migrations.RunSQL(MAKE, "DROP FUNCTION jobs_make_rollup_partition"),
                migrations.RunSQL(DROP, "DROP FUNCTION jobs_drop_rollup_partitions"),
            ],
            state_operations=[
                migrations.CreateModel(
                    name="MetricRollup",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "job_id",
                                "generation",
                                "bucket",
                                "width",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("generation", models.PositiveIntegerField()),
                        (
                            "bucket",
                            models.DateTimeField(help_text="When the stretch begins."),
                        ),
                        (
                            "width",
                            models.PositiveSmallIntegerField(
                                help_text="Of the stretch in seconds; the widest are narrower in a"
                                " job's first hour."
                            ),
                        ),
                        ("points", models.PositiveIntegerField(help_text="That it was made of.")),
                        ("first_at", models.DateTimeField()),
                        ("first_samples", models.BigIntegerField()),
                        (
                            "at",
                            models.DateTimeField(
                                help_text="Of the last point, as all that is no mean."
                            ),
                        ),
                        ("step", models.BigIntegerField()),
                        ("epoch", models.FloatField()),
                        ("samples", models.BigIntegerField()),
                        ("learning_rate", models.FloatField()),
                        ("values", models.JSONField(default=dict)),
                        (
                            "samples_per_second",
                            models.FloatField(help_text="A mean, as those that follow."),
                        ),
                        ("step_seconds", models.FloatField()),
                        ("compute_seconds", models.FloatField()),
                        ("communication_seconds", models.FloatField()),
                        (
                            "job",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="jobs.job",
                            ),
                        ),
                    ],
                ),
            ],
        ),
    ]
