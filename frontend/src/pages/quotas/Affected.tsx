/** Who holds now what would not be guaranteed any more? */

import { useJobs } from "../../api/jobs";
import { heldBeyond, heldInWords, type GuaranteeChange, type TeamRow } from "../../domain/quotas";
import styles from "./QuotasPage.module.css";

const MOST_JOBS = 100;

interface AffectedProps {
  readonly changes: readonly GuaranteeChange[];
  readonly rows: readonly TeamRow[];
}

export function Affected({ changes, rows }: AffectedProps) {
  const running = useJobs(["starting", "running", "rescaling"], MOST_JOBS);
  const found = heldBeyond(changes, rows, running.data?.items ?? []);
  if (found.length === 0) return null;
  return (
    <ul className={styles.said} data-tone="warning" aria-label="Who is affected now">
      {found.map((one) => (
        <li key={one.team}>{heldInWords(one)} Others may claim them.</li>
      ))}
    </ul>
  );
}
