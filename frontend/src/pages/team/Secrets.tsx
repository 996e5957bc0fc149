/** The team's secrets: what each sets and which jobs need it, never what is in it. */

import { useState } from "react";
import { Link } from "react-router";

import { useSecrets } from "../../api/secrets";
import type { Secret } from "../../api/types";
import { Button } from "../../design/Button";
import { Card } from "../../design/Card";
import { EmptyState } from "../../design/EmptyState";
import { Problem } from "../../design/Problem";
import { SkeletonRows } from "../../design/Skeleton";
import { RelativeTime } from "../../design/Time";
import { DeleteSecret } from "./DeleteSecret";
import { SecretForm } from "./SecretForm";
import styles from "./Secrets.module.css";

type Asked = { readonly what: "set"; readonly secret?: Secret } | Deletion | null;
interface Deletion {
  readonly what: "delete";
  readonly secret: Secret;
}

export function Secrets({ team }: { readonly team: string }) {
  const secrets = useSecrets(team);
  const [asked, setAsked] = useState<Asked>(null);
  const close = () => {
    setAsked(null);
  };
  const maySet = secrets.data?.may_set ?? false;
  return (
    <Card
      title="Secrets"
      note="for the team's jobs alone; values are never shown again"
      isFlush
      actions={
        maySet && (
          <Button
            look="primary"
            onClick={() => {
              setAsked({ what: "set" });
            }}
          >
            New secret
          </Button>
        )
      }
    >
      {secrets.isPending && <SkeletonRows rows={2} height={56} />}
      {secrets.isLoadingError && (
        <Problem error={secrets.error} onRetry={() => void secrets.refetch()} />
      )}
      {secrets.data?.items.length === 0 && <NoSecrets maySet={maySet} />}
      <ul className={styles.list} aria-label="Secrets">
        {secrets.data?.items.map((secret) => (
          <Row key={secret.name} secret={secret} onAsk={maySet ? setAsked : null} />
        ))}
      </ul>
      {asked?.what === "set" && <SecretForm team={team} known={asked.secret} onClose={close} />}
      {asked?.what === "delete" && (
        <DeleteSecret team={team} secret={asked.secret} onClose={close} />
      )}
    </Card>
  );
}

function NoSecrets({ maySet }: { readonly maySet: boolean }) {
  return (
    <EmptyState title="No secrets yet">
      <p>
        Keys and passwords do not belong in a job&apos;s spec. A job names a secret, as in{" "}
        <code>secrets: [wandb]</code>, and its workers get the variables.
        {!maySet && " A lead of the team sets them."}
      </p>
    </EmptyState>
  );
}

interface RowProps {
  readonly secret: Secret;
  readonly onAsk: ((asked: Asked) => void) | null;
}

function Row({ secret, onAsk }: RowProps) {
  return (
    <li className={styles.secret} aria-label={`Secret ${secret.name}`}>
      <div className={styles.about}>
        <p className={styles.head}>
          <strong>{secret.name}</strong>
          <span className={styles.sets}>
            {secret.kind === "registry"
              ? `login of ${secret.registry}`
              : secret.variables.map((variable) => <code key={variable}>{variable}</code>)}
          </span>
        </p>
        <p className={styles.note}>
          Set <RelativeTime at={secret.updated_at} /> by {secret.updated_by}
          <Users secret={secret} />
        </p>
      </div>
      {onAsk !== null && (
        <div className={styles.verbs}>
          <Button
            aria-label={`Replace ${secret.name}`}
            onClick={() => {
              onAsk({ what: "set", secret });
            }}
          >
            Replace
          </Button>
          <Button
            look="danger"
            aria-label={`Delete ${secret.name}`}
            onClick={() => {
              onAsk({ what: "delete", secret });
            }}
          >
            Delete
          </Button>
        </div>
      )}
    </li>
  );
}

function Users({ secret }: { readonly secret: Secret }) {
  const unnamed = secret.jobs_count - secret.jobs.length;
  if (secret.jobs_count === 0) return <> · no live job needs it</>;
  return (
    <>
      {" · needed by "}
      {secret.jobs.map((job, place) => (
        <span key={job.id}>
          {place > 0 && ", "}
          <Link to={`/jobs/${job.id}`}>{job.name}</Link>
        </span>
      ))}
      {unnamed > 0 && ` and ${String(unnamed)} more`}
    </>
  );
}
