/** Which processes the job has, on which nodes and GPUs. */

import { useWorkers } from "../../api/jobs";
import type { Job, Worker } from "../../api/types";
import { Card } from "../../design/Card";
import { EmptyState } from "../../design/EmptyState";
import { Problem } from "../../design/Problem";
import { SkeletonRows } from "../../design/Skeleton";
import { RelativeTime } from "../../design/Time";
import { plural } from "../../domain/format";
import { shortWorker } from "../../domain/logs";
import { isFinal } from "../../domain/states";
import { goneWorkers, workersByNode } from "../../domain/workers";
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
        <EmptyState title="It holds no GPU now">
          <p>Workers stand here by node, with the GPUs they hold.</p>
        </EmptyState>
      )}
      {workersByNode(items).map(([node, present]) => (
        <section key={node} aria-label={`Node ${node}`} className={styles.node}>
          <h3>
            {node} <span>{plural(present.length, "worker")}</span>
          </h3>
          <Rows workers={present} jobId={job.id} />
        </section>
      ))}
      {gone.length > 0 && (
        <details className={styles.gone}>
          <summary>{plural(gone.length, "worker")} gone</summary>
          <Rows workers={gone} jobId={job.id} />
        </details>
      )}
    </Card>
  );
}

interface RowsProps {
  readonly workers: readonly Worker[];
  readonly jobId: string;
}

function Rows({ workers, jobId }: RowsProps) {
  return (
    <ul>
      {workers.map((worker) => (
        <li key={worker.id} className={styles.worker}>
          <code title={worker.id}>{shortWorker(worker.id, jobId)}</code>
          <span>{worker.phase === "gone" ? endOf(worker) : worker.phase}</span>
          <span className={styles.gpus}>{gpusOf(worker)}</span>
          <span className={styles.since}>
            <RelativeTime at={worker.gone_at ?? worker.created_at} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function gpusOf(worker: Worker): string {
  return worker.gpu_indices.length === 0 ? "" : `GPU ${worker.gpu_indices.join(", ")}`;
}

function endOf(worker: Worker): string {
  if (worker.error !== "") return worker.error;
  return worker.exit_code === null ? "ended" : `exit code ${worker.exit_code}`;
}
