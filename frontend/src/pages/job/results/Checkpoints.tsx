/** The states that the job, or another, can go on from; a click takes the weights home. */

import { useCheckpoints, weightsAddress } from "../../../api/results";
import type { Job, KeptCheckpoint } from "../../../api/types";
import { Button } from "../../../design/Button";
import { Card } from "../../../design/Card";
import { Problem } from "../../../design/Problem";
import { RelativeTime } from "../../../design/Time";
import { formatBytes, formatMetric, NONE } from "../../../domain/format";
import { isFinal } from "../../../domain/states";
import styles from "./Outputs.module.css";

export function Checkpoints({ job }: { readonly job: Job }) {
  const checkpoints = useCheckpoints(job.id, !isFinal(job.state));
  const found = checkpoints.data?.pages.flatMap((page) => page.items) ?? [];
  if (found.length === 0 && !checkpoints.isLoadingError) return null; // as for most plain scripts
  return (
    <Card title="Checkpoints" isFlush>
      {checkpoints.isLoadingError && (
        <Problem error={checkpoints.error} onRetry={() => void checkpoints.refetch()} />
      )}
      {found.length > 0 && <Rows job={job} checkpoints={found} />}
      {checkpoints.hasNextPage && (
        <p className={styles.more}>
          <Button
            disabled={checkpoints.isFetchingNextPage}
            onClick={() => void checkpoints.fetchNextPage()}
          >
            Show more
          </Button>
        </p>
      )}
    </Card>
  );
}

interface RowsProps {
  readonly job: Job;
  readonly checkpoints: readonly KeptCheckpoint[];
}

function Rows({ job, checkpoints }: RowsProps) {
  return (
    <div className={styles.scroll}>
      <table className={`${styles.entries} ${styles.checkpoints}`}>
        <caption className="visually-hidden">Checkpoints, newest first</caption>
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">Epoch</th>
            <th scope="col">Metrics</th>
            <th scope="col">Size</th>
            <th scope="col">Written</th>
            <th scope="col">Weights</th>
          </tr>
        </thead>
        <tbody>
          {checkpoints.map((one) => (
            <tr key={one.step}>
              <th scope="row">{one.step}</th>
              <td>{one.epoch === null ? NONE : formatMetric(one.epoch)}</td>
              <td>{measuredThere(one)}</td>
              <td>{formatBytes(one.bytes)}</td>
              <td>
                <RelativeTime at={one.written_at} />
              </td>
              <td>{one.digest === null ? NONE : <Weights job={job} checkpoint={one} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Weights({ job, checkpoint }: { readonly job: Job; readonly checkpoint: KeptCheckpoint }) {
  return (
    <a
      href={weightsAddress(job.id, checkpoint.step)}
      title={`Download the weights of step ${checkpoint.step}, SHA-256 ${checkpoint.digest ?? ""}`}
      download
    >
      safetensors
    </a>
  );
}

/** What was logged after its very step: older values are of other weights. */
function measuredThere({ metrics, step }: KeptCheckpoint): string {
  const own = metrics.filter((metric) => metric.step === step);
  return own.map((metric) => `${metric.name} ${formatMetric(metric.value)}`).join(", ") || NONE;
}
