/** Deleting a secret: asked for once more, and once again when live jobs need it. */

import { useState, type SyntheticEvent } from "react";

import { messageOf } from "../../api/errors";
import { useDeleteSecret } from "../../api/secrets";
import type { Secret } from "../../api/types";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { plural } from "../../domain/format";
import styles from "./Secrets.module.css";

interface DeleteSecretProps {
  readonly team: string;
  readonly secret: Secret;
  readonly onClose: () => void;
}

export function DeleteSecret({ team, secret, onClose }: DeleteSecretProps) {
  const [isForced, setForced] = useState(false);
  const call = useDeleteSecret(team);
  const confirm = (event: SyntheticEvent) => {
    event.preventDefault();
    call.mutate({ secret: secret.name, force: isForced }, { onSuccess: onClose });
  };
  const isNeeded = secret.jobs_count > 0;
  return (
    <Dialog title={`Delete ${secret.name}?`} onClose={onClose}>
      <form className={styles.form} onSubmit={confirm}>
        <p>Nobody can bring its values back.</p>
        {isNeeded && (
          <label className={styles.sure}>
            <input
              type="checkbox"
              checked={isForced}
              onChange={(event) => {
                setForced(event.target.checked);
              }}
            />
            {`Delete it although ${plural(secret.jobs_count, "live job")} will fail to start workers`}
          </label>
        )}
        {call.isError && (
          <p role="alert" className={styles.problem}>
            {messageOf(call.error)}
          </p>
        )}
        <div className={styles.buttons}>
          <Button onClick={onClose}>Keep it</Button>
          <Button type="submit" look="danger" disabled={call.isPending || (isNeeded && !isForced)}>
            Delete secret
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
