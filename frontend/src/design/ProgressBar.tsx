/** How far a job is; without a known length the bar says so instead of guessing. */

import { formatPercent } from "../domain/format";
import styles from "./ProgressBar.module.css";

interface ProgressBarProps {
  readonly progress: number | null;
  readonly label: string;
  readonly colour: string;
  readonly isLive: boolean;
}

export function ProgressBar({ progress, label, colour, isLive }: ProgressBarProps) {
  const percent = progress === null ? 0 : Math.min(1, Math.max(0, progress)) * 100;
  return (
    <div
      className={styles.track}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      {...(progress === null ? {} : { "aria-valuenow": Math.floor(percent) })}
      aria-valuetext={progress === null ? "Length not known" : formatPercent(progress)}
      data-unknown={progress === null && isLive}
      style={{ "--fill": colour }}
    >
      <div className={styles.bar} style={{ width: `${percent}%` }} />
    </div>
  );
}
