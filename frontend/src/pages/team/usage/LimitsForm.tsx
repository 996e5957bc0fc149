/** Changing a team's limits: each field is there for those who may change it. */

import { useChangeLimits } from "../../../api/teams";
import type { TeamDetail } from "../../../api/types";
import { FormDialog, FormField } from "../../../design/FormDialog";
import { limitChangesOf, limitsOfTeam, WHEN_USED_UP } from "../../../domain/budget";

interface LimitsFormProps {
  readonly team: TeamDetail;
  readonly onClose: () => void;
}

export function LimitsForm({ team, onClose }: LimitsFormProps) {
  const call = useChangeLimits(team.name);
  const mayChange = (name: string) => team.may_change_limits.includes(name);
  return (
    <FormDialog
      title={`Limits of team ${team.name}`}
      verb="Save"
      call={call}
      onSubmit={(form) => {
        call.mutate(limitChangesOf(form), { onSuccess: onClose });
      }}
      onClose={onClose}
    >
      <p>Leave a field empty for no limit. Limits of teams above hold in any case.</p>
      {limitsOfTeam(team)
        .filter(({ name }) => mayChange(name))
        .map(({ name, label, most }) => (
          <FormField key={name} label={label}>
            <input
              name={name}
              type="number"
              min={name === "gpu_hours_per_month" ? 0.01 : 1}
              step={name === "gpu_hours_per_month" ? "any" : 1}
              defaultValue={most ?? ""}
            />
          </FormField>
        ))}
      {mayChange("when_used_up") && (
        <FormField label="When the GPU-hours are used up">
          <select name="when_used_up" defaultValue={team.when_used_up}>
            {Object.entries(WHEN_USED_UP).map(([word, meaning]) => (
              <option key={word} value={word}>
                {meaning}
              </option>
            ))}
          </select>
        </FormField>
      )}
    </FormDialog>
  );
}
