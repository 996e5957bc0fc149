/** How far is what the background worker does, for somebody who waits and may give it up? */

import { formatPercent } from "../domain/format";
import { Button } from "./Button";
import { ProgressBar } from "./ProgressBar";
import styles from "./UnderWay.module.css";

interface UnderWayProps {
  readonly work: { readonly state: string; readonly progress: number };
  /** What has been done of it, as the bar's name. */
  readonly label: string;
  readonly told: (percent: string) => string;
  readonly isGivingUp: boolean;
  readonly onGiveUp: () => void;
}

export function UnderWay({ work, label, told, isGivingUp, onGiveUp }: UnderWayProps) {
  return (
    <div className={styles.waiting}>
      <ProgressBar progress={work.progress} label={label} colour="var(--accent)" isLive={true} />
      <p role="status">
        {work.state === "queued"
          ? "Waits for the background worker."
          : told(formatPercent(work.progress))}
      </p>
      <Button disabled={isGivingUp} onClick={onGiveUp}>
        Give up
      </Button>
    </div>
  );
}
