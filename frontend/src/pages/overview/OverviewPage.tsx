/** How is the cluster used, what runs, what waits, and what has finished? */

import { usePools } from "../../api/cluster";
import { useInAddress } from "../../app/useInAddress";
import { Segments } from "../../design/Segments";
import { PoolNotes } from "../cluster/PoolNotes";
import { ClosedNodes } from "./ClosedNodes";
import { FinishedJobs } from "./FinishedJobs";
import { Headline } from "./Headline";
import { PlansBanner } from "./PlansBanner";
import { Queue } from "./Queue";
import { RunningJobs } from "./RunningJobs";
import { Teams } from "./Teams";
import { Usage } from "./Usage";
import styles from "./OverviewPage.module.css";

export function OverviewPage() {
  const pools = usePools();
  const names = pools.data?.items.map((pool) => pool.name) ?? [];
  const [chosen, setChosen] = useInAddress("pool");
  const pool = names.length > 1 ? (names.find((name) => name === chosen) ?? names[0]) : undefined;
  return (
    <div className={styles.page}>
      <title>Overview · Concertina</title>
      <div className={styles.heading}>
        <h1>Overview</h1>
        {pool !== undefined && (
          <Segments
            label="Pool"
            options={names.map((name) => ({ value: name, text: name }))}
            value={pool}
            onChange={setChosen}
          />
        )}
      </div>
      <PlansBanner />
      <ClosedNodes />
      <PoolNotes />
      <div className={styles.figures}>
        <Headline />
      </div>
      <div className={styles.split}>
        <Usage pool={pool} />
        <Teams pool={pool} />
      </div>
      <RunningJobs />
      <div className={styles.halves}>
        <Queue />
        <FinishedJobs />
      </div>
    </div>
  );
}
