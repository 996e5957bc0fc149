/** What the next GPUs would bring this job, and what the same GPUs bring the best other one. */

import type { RunningDetails } from "../../api/types";
import { useTeamColour } from "../../design/teamColour";
import { signedPercent } from "../../domain/predictions";
import styles from "./Gains.module.css";

interface GainsProps {
  readonly details: RunningDetails;
  readonly team: string;
}

export function Gains({ details, team }: GainsProps) {
  const colourOf = useTeamColour();
  const { next_step: step, rival } = details;
  if (step === null || rival === null) return null;
  const most = Math.max(step.gain, rival.gain, 1e-9);
  const otherTeam = rival.job.team ?? "";
  return (
    <dl className={styles.gains}>
      <Bar
        name={`${String(step.workers)} workers here`}
        gain={step.gain}
        most={most}
        colour={colourOf(team)}
      />
      <Bar
        name={rival.job.name ?? `a job of ${otherTeam}`}
        gain={rival.gain}
        most={most}
        colour={colourOf(otherTeam)}
      />
    </dl>
  );
}

interface BarProps {
  readonly name: string;
  readonly gain: number;
  readonly most: number;
  readonly colour: string;
}

function Bar({ name, gain, most, colour }: BarProps) {
  const share = Math.max(gain / most, 0);
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <span className={styles.track} aria-hidden="true">
          <span style={{ width: `${String(share * 100)}%`, background: colour }} />
        </span>
        {signedPercent(gain)}
      </dd>
    </div>
  );
}
