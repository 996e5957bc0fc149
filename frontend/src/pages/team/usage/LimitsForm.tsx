/** Changing a team's limits: each field is there for those who may change it. */

import type { SyntheticEvent } from "react";

import { messageOf } from "../../../api/errors";
import { useChangeLimits } from "../../../api/teams";
import type { TeamDetail } from "../../../api/types";
import { Button } from "../../../design/Button";
import { Dialog } from "../../../design/Dialog";
import { limitChangesOf, limitsOfTeam, WHEN_USED_UP } from "../../../domain/budget";
import styles from "../Secrets.module.css";

interface LimitsFormProps {
  readonly team: TeamDetail;
  readonly onClose: () => void;
}

export function LimitsForm({ team, onClose }: LimitsFormProps) {
  const call = useChangeLimits(team.name);
  const mayChange = (name: string) => team.may_change_limits.includes(name);
  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    call.mutate(limitChangesOf(new FormData(event.currentTarget)), { onSuccess: onClose });
  };
  return (
    <Dialog title={`Limits of team ${team.name}`} onClose={onClose}>
      <form className={styles.form} onSubmit={submit}>
        <p>Leave a field empty for no limit. Limits of teams above hold in any case.</p>
        {limitsOfTeam(team)
          .filter(({ name }) => mayChange(name))
          .map(({ name, label, most }) => (
            <label key={name} className={styles.field}>
              {label}
              <input
                name={name}
                type="number"
                min={name === "gpu_hours_per_month" ? 0.01 : 1}
                step={name === "gpu_hours_per_month" ? "any" : 1}
                defaultValue={most ?? ""}
              />
            </label>
          ))}
        {mayChange("when_used_up") && (
          <label className={styles.field}>
            When the GPU-hours are used up
            <select name="when_used_up" defaultValue={team.when_used_up}>
              {Object.entries(WHEN_USED_UP).map(([word, meaning]) => (
                <option key={word} value={word}>
                  {meaning}
                </option>
              ))}
            </select>
          </label>
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
