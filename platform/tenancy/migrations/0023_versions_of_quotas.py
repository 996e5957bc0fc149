"""Every version of a quota is kept, whoever changes it: a trigger writes it down.

What was before this migration nobody knows: the first version of each quota begins with it.
"""

import django.db.models.deletion
from django.db import migrations, models

KEEP = """
CREATE FUNCTION tenancy_keep_quota() RETURNS trigger LANGUAGE plpgsql
SET search_path = public, pg_temp AS $$
DECLARE
    moment timestamptz := clock_timestamp();
BEGIN
    IF TG_OP <> 'INSERT' THEN
        UPDATE tenancy_quotaversion SET until = greatest(moment, since)
            WHERE quota_number = OLD.id AND until IS NULL;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO tenancy_quotaversion (
            quota_number, team_id, pool, guaranteed_gpus, limit_gpus, lending_limit_gpus,
            over_quota_weight, since
        ) SELECT NEW.id, NEW.team_id, pool.name, NEW.guaranteed_gpus, NEW.limit_gpus,
            NEW.lending_limit_gpus, NEW.over_quota_weight,
            greatest(moment, (
                SELECT max(until) FROM tenancy_quotaversion WHERE quota_number = NEW.id
            ))
        FROM cluster_pool AS pool WHERE pool.id = NEW.pool_id;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER quota_is_kept AFTER INSERT OR DELETE ON tenancy_quota
    FOR EACH ROW EXECUTE FUNCTION tenancy_keep_quota();
CREATE TRIGGER changed_quota_is_kept AFTER UPDATE ON tenancy_quota
    FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION tenancy_keep_quota();
INSERT INTO tenancy_quotaversion (
    quota_number, team_id, pool, guaranteed_gpus, limit_gpus, lending_limit_gpus,
    over_quota_weight, since
) SELECT quota.id, team_id, pool.name, guaranteed_gpus, limit_gpus, lending_limit_gpus,
    over_quota_weight, clock_timestamp()
FROM tenancy_quota AS quota JOIN cluster_pool AS pool ON pool.id = quota.pool_id;
"""

KEEP_NO_MORE = """
DROP TRIGGER changed_quota_is_kept ON tenancy_quota;
DROP TRIGGER quota_is_kept ON tenancy_quota;
DROP FUNCTION tenancy_keep_quota;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("tenancy", "0022_bounds_of_tokens"),
    ]

    operations = [
        migrations.CreateModel(
            name="QuotaVersion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("quota_number", models.BigIntegerField()),
                ("pool", models.CharField(max_length=40)),
                ("guaranteed_gpus", models.PositiveIntegerField()),
                ("limit_gpus", models.PositiveIntegerField(blank=True, null=True)),
                ("lending_limit_gpus", models.PositiveIntegerField(blank=True, null=True)),
                ("over_quota_weight", models.FloatField()),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField(blank=True, null=True)),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="quota_versions",
                        to="tenancy.team",
                    ),
                ),
            ],
            options={
                "ordering": ("pool", "since"),
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("until", None)),
                        fields=("quota_number",),
                        name="one_quota_holds_now",
                    ),
                ],
                "indexes": [
                    models.Index(fields=["quota_number", "until"], name="quota_versions"),
                    models.Index(fields=["since"], name="quota_since"),
                ],
            },
        ),
        migrations.RunSQL(KEEP, KEEP_NO_MORE),
    ]
