/** Taking a node out of service, and putting it back: asked once more, with the jobs it hits. */

import { useLeavingJobs, useMaintenance } from "../../api/nodes";
import { Problem } from "../../design/Problem";
import { Question } from "../../design/Question";
import { Skeleton } from "../../design/Skeleton";
import { TeamMark } from "../../design/TeamMark";
import { plural } from "../../domain/format";
import { fateOf, roomElsewhere, type Maintenance } from "../../domain/maintenance";
import styles from "./ClusterPage.module.css";

interface MaintainNodeProps {
  readonly node: string;
  readonly what: Maintenance;
}

const WORDS: Readonly<Record<Maintenance, { button: string; consequence: string }>> = {
  cordon: {
    button: "Cordon",
    consequence: "No new work is placed on it. Whoever is there may stay.",
  },
  drain: {
    button: "Drain",
    consequence: "No new work is placed on it, and the jobs that are there leave it.",
  },
  uncordon: {
    button: "Put back in service",
    consequence: "New work is placed on it again.",
  },
};

export function MaintainNode({ node, what }: MaintainNodeProps) {
  const call = useMaintenance(node, what);
  const { button, consequence } = WORDS[what];
  return (
    <Question
      button={button}
      label={`${button}: ${node}`}
      title={`${button}: ${node}?`}
      consequence={consequence}
      isDanger={what === "drain"}
      call={call}
      onConfirm={(close) => {
        call.mutate(undefined, { onSuccess: close });
      }}
    >
      {what !== "uncordon" && <LeavingJobs node={node} what={what} />}
    </Question>
  );
}

/** Each job that is there, and what becomes of it. */
function LeavingJobs({ node, what }: MaintainNodeProps) {
  const leaving = useLeavingJobs(node);
  if (leaving.data === undefined) {
    return leaving.isLoadingError ? (
      <Problem error={leaving.error} onRetry={() => void leaving.refetch()} />
    ) : (
      <Skeleton height={60} />
    );
  }
  const { items, count, gpus_free_elsewhere: room } = leaving.data;
  if (count === 0) return <p>No job has a GPU there.</p>;
  return (
    <div className={styles.leaving}>
      <p>
        {plural(count, "job")} there. {what === "drain" && roomElsewhere(room)}
      </p>
      <ul aria-label="Jobs on this node">
        {items.map((job) => (
          <li key={job.id}>
            <div className={styles.leaver}>
              <b>{job.name}</b>
              <TeamMark team={job.team} />
            </div>
            <p>
              {plural(job.workers_here, "worker")} here: {fateOf(job, what)}.
            </p>
          </li>
        ))}
      </ul>
      {items.length < count && <p>and {plural(count - items.length, "job")} more</p>}
    </div>
  );
}
