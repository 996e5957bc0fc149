/** Setting a secret. What is typed leaves with the request and is kept nowhere here. */

import { useState, type SyntheticEvent } from "react";

import { messageOf } from "../../api/errors";
import { useSetSecret } from "../../api/secrets";
import type { Secret } from "../../api/types";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { contentOf, text } from "../../domain/secrets";
import styles from "./Secrets.module.css";

interface SecretFormProps {
  readonly team: string;
  readonly known: Secret | undefined;
  readonly onClose: () => void;
}

export function SecretForm({ team, known, onClose }: SecretFormProps) {
  const [kind, setKind] = useState(known?.kind ?? "environment");
  const call = useSetSecret(team);
  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const secret = known?.name ?? text(form, "name").trim();
    call.mutate({ secret, body: contentOf(form) }, { onSuccess: onClose });
  };
  return (
    <Dialog title={known === undefined ? "New secret" : `Replace ${known.name}`} onClose={onClose}>
      <form className={styles.form} onSubmit={submit} autoComplete="off">
        {known === undefined ? (
          <>
            <label className={styles.field}>
              Name
              <input
                name="name"
                required
                maxLength={40}
                placeholder="wandb"
                autoCapitalize="none"
              />
            </label>
            <label className={styles.field}>
              Kind
              <select
                name="kind"
                value={kind}
                onChange={(event) => {
                  setKind(event.target.value === "registry" ? "registry" : "environment");
                }}
              >
                <option value="environment">Variables for jobs that name it</option>
                <option value="registry">Login of an image registry</option>
              </select>
            </label>
          </>
        ) : (
          <>
            <input type="hidden" name="kind" value={kind} />
            <p>It is replaced whole. Jobs get the new values with the next worker that starts.</p>
          </>
        )}
        {kind === "registry" ? (
          <Login registry={known?.registry ?? ""} />
        ) : (
          <Variables names={known?.variables ?? [""]} />
        )}
        {call.isError && (
          <p role="alert" className={styles.problem}>
            {messageOf(call.error)}
          </p>
        )}
        <div className={styles.buttons}>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={call.isPending}>
            {known === undefined ? "Keep secret" : "Replace secret"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Variables({ names }: { readonly names: readonly string[] }) {
  const [added, setAdded] = useState(0);
  const rows = [...names, ...Array<string>(added).fill("")];
  return (
    <div className={styles.variables}>
      {rows.map((name, place) => (
        <div key={place} className={styles.variable}>
          <label className={styles.field}>
            Variable
            <input name="variable" defaultValue={name} placeholder="WANDB_API_KEY" />
          </label>
          <label className={styles.field}>
            Value
            <input name="value" type="password" autoComplete="new-password" />
          </label>
        </div>
      ))}
      <Button
        look="quiet"
        onClick={() => {
          setAdded(added + 1);
        }}
      >
        Another variable
      </Button>
    </div>
  );
}

function Login({ registry }: { readonly registry: string }) {
  return (
    <>
      <label className={styles.field}>
        Registry
        <input
          name="registry"
          required
          defaultValue={registry}
          placeholder="registry.example.com:5000"
        />
      </label>
      <label className={styles.field}>
        User name
        <input name="username" required autoComplete="off" />
      </label>
      <label className={styles.field}>
        Password
        <input name="password" type="password" required autoComplete="new-password" />
      </label>
    </>
  );
}
