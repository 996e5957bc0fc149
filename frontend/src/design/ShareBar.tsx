/** A team's four numbers on a bar as long as the pool. */

import type { TeamStanding } from "../api/types";
import { shareBar } from "../domain/standing";
import { useTeamColour } from "./teamColour";
import styles from "./ShareBar.module.css";

interface ShareBarProps {
  readonly team: TeamStanding;
  readonly gpusTotal: number;
}

/** Solid: within the guarantee. Hatched: borrowed. The notch is the guarantee, the dot the fair share. */
export function ShareBar({ team, gpusTotal }: ShareBarProps) {
  const colour = useTeamColour()(team.name);
  const bar = shareBar(team, gpusTotal);
  return (
    <div className={styles.bar} aria-hidden="true" style={{ "--team": colour }}>
      <span className={styles.own} style={{ width: `${bar.own}%` }} />
      <span
        className={styles.borrowed}
        style={{ left: `${bar.own}%`, width: `${bar.borrowed}%` }}
      />
      <span className={styles.guarantee} style={{ left: `${bar.guarantee}%` }} />
      <span className={styles.fair} style={{ left: `${bar.fairShare}%` }} />
    </div>
  );
}
