/** One running job in a few columns and one sentence. */

import { Link } from "react-router";

import type { Job, JobSparkline } from "../../api/types";
import { StateBadge } from "../../design/Badge";
import { ProgressBar } from "../../design/ProgressBar";
import { Sparkline } from "../../design/Sparkline";
import { TeamMark } from "../../design/TeamMark";
import { WorkerCells } from "../../design/WorkerCells";
import { useNow } from "../../design/now";
import { useTeamColour } from "../../design/teamColour";
import { mainMetric, smooth } from "../../domain/curves";
import { formatMetric, formatPercent, formatRate, humanise } from "../../domain/format";
import { describeTimeLeft } from "../../domain/predictions";
import { reasonLabel } from "../../domain/reasons";
import styles from "./RunningJob.module.css";

interface Shown {
  readonly job: Job;
  readonly course: JobSparkline | undefined;
}

export function RunningJob({ job, course }: Shown) {
  const colour = useTeamColour()(job.team);
  const now = useNow();
  return (
    <li className={styles.job}>
      <div className={styles.who}>
        <Link to={`/jobs/${job.id}`} className={styles.name}>
          {job.name}
        </Link>
        <span className={styles.team}>
          <TeamMark team={job.team} />
          <StateBadge state={job.state} />
        </span>
      </div>
      <div className={styles.progress}>
        <p className={styles.figures}>
          <strong>{formatPercent(job.progress)}</strong>
          <span>{describeTimeLeft(job, now)}</span>
        </p>
        <ProgressBar
          progress={job.progress}
          label={`Progress of ${job.name}`}
          colour={colour}
          isLive
        />
      </div>
      <div>
        <p className={styles.label}>Workers</p>
        <WorkerCells job={job} colour={colour} />
      </div>
      <div>
        <p className={styles.label}>Batch</p>
        <p>{job.global_batch_size === 0 ? "–" : job.global_batch_size}</p>
      </div>
      <div>
        <p className={styles.label}>Speed</p>
        <p>{formatRate(job.samples_per_second)}</p>
      </div>
      <Loss job={job} course={course} />
      <p className={styles.reason}>
        <strong>{reasonLabel(job.reason)}</strong> {job.message}
      </p>
    </li>
  );
}

function Loss({ job, course }: Shown) {
  const name = mainMetric(job.values) ?? "loss";
  const points = course?.values.map((value, place) => [place, value] as const) ?? [];
  const values = smooth(points, 0.5).map(([, value]) => value);
  const newest = job.values[name];
  return (
    <div className={styles.loss}>
      <p className={styles.label}>{humanise(name)}</p>
      <div className={styles.lossRow}>
        <span>{formatMetric(typeof newest === "number" ? newest : null)}</span>
        <Sparkline values={values} label={`Course of ${name}`} />
      </div>
    </div>
  );
}
