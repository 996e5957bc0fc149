/** Which processes the job has, on which nodes and GPUs, and which one holds the others up. */

import { useWorkers } from "../../api/jobs";
import type { Job, Worker } from "../../api/types";
import { Card } from "../../design/Card";
import { EmptyState } from "../../design/EmptyState";
import { Problem } from "../../design/Problem";
import { SkeletonRows } from "../../design/Skeleton";
import { RelativeTime } from "../../design/Time";
import { formatPercent, formatStep, NONE, plural } from "../../domain/format";
import { shortWorker } from "../../domain/logs";
import { isFinal } from "../../domain/states";
import {
  describeMemory,
  describeSpeed,
  goneWorkers,
  knowsGpus,
  workersByNode,
} from "../../domain/workers";
import styles from "./Workers.module.css";

export function Workers({ job }: { readonly job: Job }) {
  const workers = useWorkers(job.id, !isFinal(job.state));
  const items = workers.data?.items ?? [];
  const gone = goneWorkers(items);
  return (
    <Card title="Workers" isFlush>
      {workers.isPending && <SkeletonRows rows={3} height={32} />}
      {workers.isLoadingError && (
        <Problem error={workers.error} onRetry={() => void workers.refetch()} />
      )}
      {workers.data !== undefined && items.length === gone.length && (
        <EmptyState title={isFinal(job.state) ? "All have gone" : "It holds no GPU now"}>
          {!isFinal(job.state) && <p>Workers stand here by node, with the GPUs they hold.</p>}
        </EmptyState>
      )}
      {items.length > gone.length && <Present workers={items} jobId={job.id} />}
      {gone.length > 0 && (
        <details className={styles.gone}>
          <summary>{plural(gone.length, "worker")} gone</summary>
          <Gone workers={gone} jobId={job.id} />
        </details>
      )}
    </Card>
  );
}

interface RowsProps {
  readonly workers: readonly Worker[];
  readonly jobId: string;
}

/** Those that hold GPUs, by node, with the pace of each. */
function Present({ workers, jobId }: RowsProps) {
  const hasGpus = knowsGpus(workers);
  const columns = ["Worker", "Phase", "GPU", "Computes", "Speed"];
  if (hasGpus) columns.push("GPU use", "Memory");
  return (
    <div className={styles.scroll}>
      <table className={styles.present}>
        <caption className="visually-hidden">Workers by node</caption>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col" title={TITLES[name]}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        {workersByNode(workers).map(([node, present]) => (
          <tbody key={node}>
            <tr className={styles.node}>
              <th scope="rowgroup" colSpan={columns.length}>
                {node} <span>{plural(present.length, "worker")}</span>
              </th>
            </tr>
            {present.map((worker) => (
              <PresentRow key={worker.id} worker={worker} jobId={jobId} hasGpus={hasGpus} />
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

const TITLES: Record<string, string> = {
  Computes: "Seconds of its own share of a step, waiting for the others left out",
  Speed: "100 % is the median of the job's workers",
};

interface PresentRowProps {
  readonly worker: Worker;
  readonly jobId: string;
  readonly hasGpus: boolean;
}

function PresentRow({ worker, jobId, hasGpus }: PresentRowProps) {
  return (
    <tr data-straggler={worker.is_straggler}>
      <th scope="row">
        <code title={worker.id}>{shortWorker(worker.id, jobId)}</code>
      </th>
      <td>{worker.phase}</td>
      <td>{worker.gpu_indices.join(", ")}</td>
      <td>{worker.compute_seconds === null ? NONE : formatStep(worker.compute_seconds)}</td>
      <td className={styles.speed}>
        {describeSpeed(worker)}
        {worker.is_straggler && <span className={styles.straggler}>straggler</span>}
      </td>
      {hasGpus && <td>{formatPercent(worker.gpu_utilisation)}</td>}
      {hasGpus && <td>{describeMemory(worker)}</td>}
    </tr>
  );
}

/** Those that have ended, and how. */
function Gone({ workers, jobId }: RowsProps) {
  return (
    <ul>
      {workers.map((worker) => (
        <li key={worker.id} className={styles.worker}>
          <code title={worker.id}>{shortWorker(worker.id, jobId)}</code>
          <span>{endOf(worker)}</span>
          <span className={styles.since}>
            <RelativeTime at={worker.gone_at ?? worker.created_at} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function endOf(worker: Worker): string {
  if (worker.error !== "") return worker.error;
  return worker.exit_code === null ? "ended" : `exit code ${worker.exit_code}`;
}
