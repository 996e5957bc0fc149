/** Was the team given what it was owed, whenever it had work for it? If not, why? */

import { fairnessAddress, useFairnessReceipt } from "../../../api/gpuHours";
import type { FairnessReceipt } from "../../../api/types";
import { Card } from "../../../design/Card";
import { EmptyState } from "../../../design/EmptyState";
import { Problem } from "../../../design/Problem";
import { SkeletonRows } from "../../../design/Skeleton";
import { causesOf } from "../../../domain/fairness";
import { formatDuration, formatGpuTime, formatShare } from "../../../domain/format";
import type { UsagePeriod } from "../../../domain/usagePeriod";
import outputs from "../../job/results/Outputs.module.css";
import styles from "./Usage.module.css";

interface FairnessProps {
  readonly team: string;
  readonly period: UsagePeriod;
}

export function Fairness({ team, period }: FairnessProps) {
  const receipt = useFairnessReceipt(team, period);
  return (
    <Card
      title="Given what it was owed"
      note="of its guarantee, while it had work for it"
      isFlush
      actions={
        <a className={styles.download} href={fairnessAddress(team, period)} download>
          Shortfalls as CSV
        </a>
      }
    >
      {receipt.isPending && <SkeletonRows rows={2} height={28} />}
      {receipt.isLoadingError && (
        <Problem error={receipt.error} onRetry={() => void receipt.refetch()} />
      )}
      {receipt.data !== undefined && <Told receipt={receipt.data} />}
    </Card>
  );
}

function Told({ receipt }: { readonly receipt: FairnessReceipt }) {
  if (receipt.since === null || receipt.working_seconds === 0) {
    return (
      <EmptyState title="Nothing was owed in this time">
        <p>
          {receipt.since === null
            ? "It is here some minutes after the first full hour in which a team had work."
            : receipt.message}
        </p>
      </EmptyState>
    );
  }
  const causes = causesOf(receipt);
  return (
    <>
      <p className={styles.sentence}>{receipt.message}</p>
      {receipt.unseen_seconds > 0 && (
        <p className={styles.remarks}>
          {`For ${formatDuration(receipt.unseen_seconds)} nobody looked: what changed then counts from its end.`}
        </p>
      )}
      {causes.length > 0 && (
        <div className={outputs.scroll}>
          <table className={outputs.entries}>
            <caption className="visually-hidden">GPU time short, by cause</caption>
            <thead>
              <tr>
                <th scope="col">Cause</th>
                <th scope="col">Pools</th>
                <th scope="col">GPU time short</th>
                <th scope="col">Share</th>
              </tr>
            </thead>
            <tbody>
              {causes.map(({ cause, label, gpuSeconds, pools }) => (
                <tr key={cause}>
                  <th scope="row">{label}</th>
                  <td>{pools.join(", ")}</td>
                  <td>{formatGpuTime(gpuSeconds)}</td>
                  <td>{formatShare(gpuSeconds / receipt.missing_gpu_seconds)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
