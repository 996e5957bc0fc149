/** What became of each job: those that were refused first, with the reason. */

import type { BulkOutcome } from "../../domain/bulk";
import styles from "./BulkDialog.module.css";

interface BulkOutcomesProps {
  readonly outcomes: readonly BulkOutcome[];
  readonly done: string;
}

export function BulkOutcomes({ outcomes, done }: BulkOutcomesProps) {
  const refused = outcomes.filter(({ result }) => result !== "done");
  const others = outcomes.filter(({ result }) => result === "done");
  return (
    <ul className={styles.outcomes} aria-label="Outcomes">
      {[...refused, ...others].map(({ job, result, message }) => (
        <li key={job.id} data-result={result}>
          <b>{job.name}</b>
          <span>{result === "done" ? done : `${result}: ${message}`}</span>
        </li>
      ))}
    </ul>
  );
}
