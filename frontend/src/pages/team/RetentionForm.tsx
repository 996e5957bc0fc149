/** Choosing for how long a part is kept. It counts for ended jobs, too, so it says what goes. */

import { useState, type SyntheticEvent } from "react";

import { messageOf } from "../../api/errors";
import { useChangeRetention } from "../../api/retention";
import type { KeptPart } from "../../api/types";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { bounds, changesOf, choiceOf, lasting, WHAT_IS_KEPT } from "../../domain/retention";
import styles from "./Secrets.module.css";

const MOST_DAYS = 36_500;

interface RetentionFormProps {
  readonly team: string;
  readonly rule: KeptPart;
  readonly maySetBounds: boolean;
  readonly onClose: () => void;
}

export function RetentionForm({ team, rule, maySetBounds, onClose }: RetentionFormProps) {
  const [choice, setChoice] = useState(choiceOf(rule));
  const call = useChangeRetention(team);
  const what = WHAT_IS_KEPT[rule.part];
  const allowed = bounds(rule);
  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const changes = changesOf(new FormData(event.currentTarget));
    call.mutate({ part: rule.part, changes }, { onSuccess: onClose });
  };
  return (
    <Dialog title={`Retention of ${what.toLowerCase()}`} onClose={onClose}>
      <form className={styles.form} onSubmit={submit}>
        <p>
          After a job has ended. What is older goes within minutes, also of jobs that ended long
          ago, and nobody can bring it back. Pinned jobs keep everything.
        </p>
        <label className={styles.field}>
          Keep
          <select
            name="choice"
            value={choice}
            onChange={(event) => {
              setChoice(event.target.value);
            }}
          >
            <option value="usual">{`as the installation says: ${lasting(rule.default_days)}`}</option>
            <option value="days">for a number of days</option>
            <option value="ever">for ever</option>
          </select>
        </label>
        {choice === "days" && (
          <Days label="Days" name="days" value={rule.days ?? rule.kept_days} least={1} isRequired />
        )}
        {maySetBounds ? (
          <div className={styles.variable}>
            <Days label="At least (days)" name="least_days" value={rule.least_days} least={0} />
            <Days label="At most (days)" name="most_days" value={rule.most_days} least={1} />
          </div>
        ) : (
          allowed !== "" && <p>{`Admins allow ${allowed}.`}</p>
        )}
        {call.isError && (
          <p role="alert" className={styles.problem}>
            {messageOf(call.error)}
          </p>
        )}
        <div className={styles.buttons}>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={call.isPending}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface DaysProps {
  readonly label: string;
  readonly name: string;
  readonly value: number | null;
  readonly least: number;
  readonly isRequired?: boolean;
}

function Days({ label, name, value, least, isRequired = false }: DaysProps) {
  return (
    <label className={styles.field}>
      {label}
      <input
        name={name}
        type="number"
        min={least}
        max={MOST_DAYS}
        required={isRequired}
        defaultValue={value === null || (isRequired && value === 0) ? "" : value}
      />
    </label>
  );
}
