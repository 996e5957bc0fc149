/** A team's name beside its colour. */

import { useTeamColour } from "./teamColour";
import styles from "./TeamMark.module.css";

export function TeamMark({ team }: { readonly team: string }) {
  return (
    <span className={styles.team}>
      <span
        className={styles.mark}
        style={{ background: useTeamColour()(team) }}
        aria-hidden="true"
      />
      {team}
    </span>
  );
}
