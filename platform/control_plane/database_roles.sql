-- Who may do what in Concertina's database? Run by its superuser, as often as one likes: it makes
-- what is missing and corrects what differs. `concertina_owner` owns the tables and changes the
-- schema; each service reads and writes rows under a role of its own. None is a superuser, so none
-- starts programs of the machine, and none gets at the connections that are kept for superusers.

CREATE FUNCTION pg_temp.concertina_roles() RETURNS SETOF name LANGUAGE sql AS $$
    VALUES ('concertina_owner'::name), ('concertina_api'), ('concertina_control'), ('concertina_io')
$$;

DO $$
DECLARE
    one name;
    relation regclass;
BEGIN
    FOR one IN SELECT pg_temp.concertina_roles() LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = one) THEN
            EXECUTE format('CREATE ROLE %I', one);
        END IF;
        EXECUTE format(
            'ALTER ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS', one
        );
        EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), one);
    END LOOP;

    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('ALTER DATABASE %I OWNER TO concertina_owner', current_database());
    ALTER SCHEMA public OWNER TO concertina_owner;
    REVOKE ALL ON SCHEMA public FROM PUBLIC;

    -- What earlier versions made as the superuser; sequences of columns go with their tables.
    FOR relation IN
        SELECT oid::regclass FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm')
            AND relowner <> 'concertina_owner'::regrole
    LOOP
        EXECUTE format('ALTER TABLE %s OWNER TO concertina_owner', relation);
    END LOOP;

    FOR one IN SELECT pg_temp.concertina_roles() LOOP
        CONTINUE WHEN one = 'concertina_owner';
        EXECUTE format('GRANT USAGE ON SCHEMA public TO %I', one);
        EXECUTE format(
            'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO %I', one
        );
        EXECUTE format('GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO %I', one);
        EXECUTE format(
            'ALTER DEFAULT PRIVILEGES FOR ROLE concertina_owner IN SCHEMA public'
            ' GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO %I', one
        );
        EXECUTE format(
            'ALTER DEFAULT PRIVILEGES FOR ROLE concertina_owner IN SCHEMA public'
            ' GRANT USAGE, SELECT ON SEQUENCES TO %I', one
        );
    END LOOP;

    -- The audit log only grows. One function lets go of what is old, for the service that tidies up.
    IF to_regclass('public.tenancy_auditentry') IS NOT NULL THEN
        REVOKE UPDATE, DELETE, TRUNCATE ON public.tenancy_auditentry
            FROM concertina_api, concertina_control, concertina_io;
        REVOKE UPDATE, DELETE, TRUNCATE ON public.tenancy_auditrepeats
            FROM concertina_api, concertina_control, concertina_io;
        GRANT UPDATE (times, last_at) ON public.tenancy_auditrepeats
            TO concertina_api, concertina_control, concertina_io;
        ALTER FUNCTION public.tenancy_forget_audit OWNER TO concertina_owner;
        GRANT EXECUTE ON FUNCTION public.tenancy_forget_audit TO concertina_io;
    END IF;
END
$$;

DROP FUNCTION pg_temp.concertina_roles();
