/** How long did jobs take from submit to finish, and did that get better? */

import type { Summary } from "../../api/types";
import { Skeleton } from "../../design/Skeleton";
import { formatDuration } from "../../domain/format";
import { describeCalibration } from "../../domain/predictions";
import { movementOfTime } from "../../domain/summary";
import styles from "./CompletionTimes.module.css";

export function CompletionTimes({ summary }: { readonly summary: Summary | undefined }) {
  const before = summary?.previous;
  const hasBefore = before?.mean_completion_seconds != null;
  return (
    <div className={styles.block}>
      <p className={styles.label}>
        Completion time{" "}
        <span>{hasBefore ? "24 h, against the day before" : "of the last 24 h"}</span>
      </p>
      <dl className={styles.figures}>
        <Figure
          name="mean"
          now={summary?.mean_completion_seconds}
          before={before?.mean_completion_seconds}
        />
        <Figure
          name="p50"
          now={summary?.p50_completion_seconds}
          before={before?.p50_completion_seconds}
        />
        <Figure
          name="p99"
          now={summary?.p99_completion_seconds}
          before={before?.p99_completion_seconds}
        />
      </dl>
      {summary !== undefined && (
        <p className={styles.calibration}>{describeCalibration(summary.predictions)}</p>
      )}
    </div>
  );
}

interface FigureProps {
  readonly name: string;
  readonly now: number | null | undefined;
  readonly before: number | null | undefined;
}

function Figure({ name, now, before }: FigureProps) {
  const movement = movementOfTime(now ?? null, before ?? null);
  return (
    <div className={styles.figure}>
      <dt>{name}</dt>
      <dd>{now === undefined ? <Skeleton height={22} width={80} /> : formatDuration(now)}</dd>
      <dd className={styles.movement} data-direction={movement?.direction ?? "same"}>
        {movement?.text}
      </dd>
    </div>
  );
}
