/** How much do the team's jobs keep on disk, of how much, and which of them most? */

import { Link } from "react-router";

import { useStorage } from "../../api/storage";
import type { TeamStorage } from "../../api/types";
import { Card } from "../../design/Card";
import { Problem } from "../../design/Problem";
import { ProgressBar } from "../../design/ProgressBar";
import { SkeletonRows } from "../../design/Skeleton";
import { RelativeTime } from "../../design/Time";
import { formatBytes, NONE } from "../../domain/format";
import outputs from "../job/results/Outputs.module.css";
import styles from "./Storage.module.css";

const SHOWN = 5;

export function Storage({ team }: { readonly team: string }) {
  const storage = useStorage(team);
  return (
    <Card title="Storage" note="what its jobs keep on disk, ended ones included" isFlush>
      {storage.isPending && <SkeletonRows rows={2} height={40} />}
      {storage.isLoadingError && (
        <Problem error={storage.error} onRetry={() => void storage.refetch()} />
      )}
      {storage.data !== undefined && <Kept storage={storage.data} />}
    </Card>
  );
}

function Kept({ storage }: { readonly storage: TeamStorage }) {
  const said = `${formatBytes(storage.used_bytes)} of ${formatBytes(storage.most_bytes)}`;
  return (
    <>
      <div className={styles.sum}>
        <strong>{said}</strong>
        <ProgressBar
          progress={storage.used_bytes / storage.most_bytes}
          label="Of the storage that the team may use"
          colour={storage.is_full ? "var(--danger)" : "var(--accent)"}
          isLive={false}
        />
        {storage.message !== "" && (
          <p role={storage.is_full ? "alert" : "note"}>{storage.message}</p>
        )}
      </div>
      {storage.jobs.length > 0 && <Largest jobs={storage.jobs.slice(0, SHOWN)} />}
    </>
  );
}

function Largest({ jobs }: { readonly jobs: TeamStorage["jobs"] }) {
  return (
    <div className={outputs.scroll}>
      <table className={outputs.entries}>
        <caption className="visually-hidden">The jobs that keep most, the largest first</caption>
        <thead>
          <tr>
            <th scope="col">Job</th>
            <th scope="col">Keeps</th>
            <th scope="col">State</th>
            <th scope="col">Ended</th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <tr key={job.id}>
              <th scope="row">
                <Link to={`/jobs/${job.id}`}>{job.name}</Link>
              </th>
              <td>{formatBytes(job.bytes)}</td>
              <td>{job.is_pinned ? `${job.state}, pinned` : job.state}</td>
              <td>{job.finished_at === null ? NONE : <RelativeTime at={job.finished_at} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
