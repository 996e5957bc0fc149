"""The audit log: rows are added and read, and nobody changes them.

The services' roles may neither update nor delete, and a trigger refuses both to whoever owns the
table. Old rows go by one function, which runs as the owner, keeps what is younger than 30 days
whatever it is asked, and adds a row that tells of it.
"""

from django.db import migrations, models

GUARD = """
CREATE FUNCTION tenancy_guard_audit() RETURNS trigger LANGUAGE plpgsql
SET search_path = public, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('concertina.forgets_audit', true) = 'yes'
        AND pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE')
    THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'The audit log only grows: % is refused.', TG_OP
        USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER audit_only_grows BEFORE UPDATE OR DELETE ON tenancy_auditentry
    FOR EACH ROW EXECUTE FUNCTION tenancy_guard_audit();
"""

FORGET = """
CREATE FUNCTION tenancy_forget_audit(moment timestamptz, most integer)
RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    bound timestamptz := least(moment, now() - interval '30 days');
    forgotten integer;
BEGIN
    PERFORM set_config('concertina.forgets_audit', 'yes', true);
    DELETE FROM tenancy_auditentry WHERE id IN (
        SELECT id FROM tenancy_auditentry WHERE at < bound ORDER BY at LIMIT most
    );
    GET DIAGNOSTICS forgotten = ROW_COUNT;
    PERFORM set_config('concertina.forgets_audit', '', true);
    DELETE FROM tenancy_auditrepeats WHERE last_at < bound;
    IF forgotten > 0 THEN
        INSERT INTO tenancy_auditentry (
            at, outcome, sender_kind, sender, token_prefix, address, operation, target, answer,
            repeats_key, "after"
        ) VALUES (
            now(), 'done', 'service', session_user, '', '', 'forget_audit_entries', 'audit', 0,
            '', jsonb_build_object('entries', forgotten, 'older_than', bound)
        );
    END IF;
    RETURN forgotten;
END
$$;
"""

# The roles' rights are also in `control_plane/database_roles.sql`, which runs at each start.
RIGHTS = """
DO $$
DECLARE
    one name;
BEGIN
    REVOKE ALL ON FUNCTION tenancy_forget_audit FROM PUBLIC;
    FOR one IN SELECT rolname FROM pg_roles
        WHERE rolname IN ('concertina_api', 'concertina_control', 'concertina_io')
    LOOP
        EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON tenancy_auditentry FROM %I', one);
        EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON tenancy_auditrepeats FROM %I', one);
        EXECUTE format('GRANT UPDATE (times, last_at) ON tenancy_auditrepeats TO %I', one);
    END LOOP;
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'concertina_io') THEN
        GRANT EXECUTE ON FUNCTION tenancy_forget_audit TO concertina_io;
    END IF;
END
$$;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("tenancy", "0013_scopes_of_tokens"),
    ]

    operations = [
        migrations.CreateModel(
            name="AuditRepeats",
            fields=[
                ("key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("times", models.PositiveBigIntegerField()),
                ("last_at", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(help_text="Of several, the first.")),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("done", "Done"),
                            ("refused", "refused: for who asked"),
                            ("failed", "failed: for another reason"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "sender_kind",
                    models.CharField(
                        choices=[
                            ("person", "Person"),
                            ("token", "Token"),
                            ("service", "service: its own commands and rules"),
                            ("unknown", "Unknown"),
                        ],
                        max_length=10,
                    ),
                ),
                ("sender", models.CharField(help_text="Empty: nobody knows.", max_length=200)),
                ("person_id", models.BigIntegerField(null=True)),
                ("token_id", models.BigIntegerField(null=True)),
                ("token_prefix", models.CharField(max_length=12)),
                ("address", models.CharField(max_length=64)),
                ("operation", models.CharField(max_length=100)),
                (
                    "target",
                    models.CharField(
                        help_text="An address below /api/v1, or of a page.", max_length=300
                    ),
                ),
                ("team_id", models.BigIntegerField(null=True)),
                (
                    "answer",
                    models.PositiveSmallIntegerField(
                        help_text="An HTTP status; 0: it was no request."
                    ),
                ),
                ("before", models.JSONField(null=True)),
                ("after", models.JSONField(null=True)),
                (
                    "repeats_key",
                    models.CharField(
                        help_text="Empty: such a row stands for one request.", max_length=64
                    ),
                ),
            ],
            options={
                "ordering": ("-id",),
                "indexes": [
                    models.Index(fields=["at"], name="audit_by_moment"),
                    models.Index(fields=["team_id", "id"], name="audit_by_team"),
                    models.Index(fields=["sender", "id"], name="audit_by_sender"),
                    models.Index(fields=["operation", "id"], name="audit_by_operation"),
                    models.Index(
                        fields=["target"],
                        name="audit_by_target",
                        opclasses=("varchar_pattern_ops",),
                    ),
                ],
            },
        ),
        migrations.RunSQL(
            GUARD,
            "DROP TRIGGER audit_only_grows ON tenancy_auditentry;"
            " DROP FUNCTION tenancy_guard_audit;",
        ),
        migrations.RunSQL(FORGET, "DROP FUNCTION tenancy_forget_audit;"),
        migrations.RunSQL(RIGHTS, migrations.RunSQL.noop),
    ]
