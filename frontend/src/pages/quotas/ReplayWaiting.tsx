/** How far are the replays of the past, for somebody who waits for them and may give them up? */

import type { QuotaPreview } from "../../api/types";
import { Button } from "../../design/Button";
import { ProgressBar } from "../../design/ProgressBar";
import { formatPercent } from "../../domain/format";
import styles from "./ReplayWaiting.module.css";

interface ReplayWaitingProps {
  readonly replay: Pick<QuotaPreview, "state" | "progress">;
  readonly isGivingUp: boolean;
  readonly onGiveUp: () => void;
}

export function ReplayWaiting({ replay, isGivingUp, onGiveUp }: ReplayWaitingProps) {
  return (
    <div className={styles.waiting}>
      <ProgressBar
        progress={replay.progress}
        label="Replayed"
        colour="var(--accent)"
        isLive={true}
      />
      <p role="status">
        {replay.state === "queued"
          ? "Waits for the background worker."
          : `Replays the last days: ${formatPercent(replay.progress)}.`}
      </p>
      <Button disabled={isGivingUp} onClick={onGiveUp}>
        Give up
      </Button>
    </div>
  );
}
