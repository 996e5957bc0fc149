/** Who changed quotas lately, from what to what. */

import { useQuotaHistory } from "../../api/quotas";
import type { AuditEntry } from "../../api/types";
import { Card } from "../../design/Card";
import { Problem } from "../../design/Problem";
import { RelativeTime } from "../../design/Time";
import { changedValues } from "../../domain/audit";
import { humanise } from "../../domain/format";
import styles from "./QuotasPage.module.css";

export function QuotaHistory() {
  const history = useQuotaHistory();
  const entries = history.data ?? [];
  return (
    <Card title="Changes" note="the last ten, of all pools">
      {history.isLoadingError && (
        <Problem error={history.error} onRetry={() => void history.refetch()} />
      )}
      {history.isSuccess && entries.length === 0 && (
        <p className={styles.note}>Nobody has changed a quota yet.</p>
      )}
      <ol className={styles.history}>
        {entries.map((entry) => (
          <li key={entry.id}>
            <strong>{entry.team ?? entry.target}</strong> {changeInWords(entry)}
            <small>
              {entry.sender}, <RelativeTime at={entry.at} />
            </small>
          </li>
        ))}
      </ol>
    </Card>
  );
}

const FIELDS: ReadonlyMap<string, string> = new Map([
  ["guaranteed_gpus", "guaranteed GPUs"],
  ["limit_gpus", "most GPUs"],
  ["lending_limit_gpus", "most GPUs lent"],
  ["over_quota_weight", "weight of its share of what is idle"],
]);

function changeInWords(entry: AuditEntry): string {
  const parts = changedValues(entry)
    .filter(({ name }) => name !== "pool")
    .map(({ name, before, after }) => {
      const field = FIELDS.get(name) ?? humanise(name).toLowerCase();
      return `${field} ${before || "none"} → ${after || "none"}`;
    });
  const pool = entry.target.split("/").at(-1) ?? "";
  return parts.length === 0 ? `in ${pool}: as before` : `in ${pool}: ${parts.join(", ")}`;
}
