/** What the cells of the map mean: whose a GPU is, how full a cell is, and what is out of order. */

import { TeamMark } from "../../design/TeamMark";
import { plural } from "../../domain/format";
import styles from "./ClusterPage.module.css";

interface LegendProps {
  readonly holders: readonly (readonly [team: string, gpus: number])[];
}

const MOST_TEAMS = 8; // more than there are colours would say nothing

export function Legend({ holders }: LegendProps) {
  return (
    <div className={styles.legend}>
      {holders.slice(0, MOST_TEAMS).map(([team, gpus]) => (
        <span key={team}>
          <TeamMark team={team} /> <b>{plural(gpus, "GPU")}</b>
        </span>
      ))}
      {holders.length > MOST_TEAMS && <span>and {holders.length - MOST_TEAMS} teams more</span>}
      <span className={styles.key}>
        <span className={styles.sample} data-mark="busy" /> height: how busy
      </span>
      <span className={styles.key}>
        <span className={styles.sample} data-mark="memory" /> line: memory
      </span>
      <span className={styles.key}>
        <span className={styles.sample} data-mark="free" /> free
      </span>
      <span className={styles.key}>
        <span className={styles.sample} data-mark="slow" /> framed: slow
      </span>
    </div>
  );
}
