/** One row for each tick that changed something, the newest first. */

import type { Tick } from "../../api/types";
import { Button } from "../../design/Button";
import { Card } from "../../design/Card";
import { CopyAsCsv } from "../../design/CopyAsCsv";
import { EmptyState } from "../../design/EmptyState";
import { useTeamColour } from "../../design/teamColour";
import { formatDuration, plural } from "../../domain/format";
import { changeText, nameOf, reasonText, ticksAsCsv } from "../../domain/ticks";
import { clockTime, milliseconds } from "../../domain/time";
import styles from "./AutoscalerPage.module.css";

interface TickListProps {
  readonly ticks: readonly Tick[];
  readonly chosen: number | null;
  readonly onChoose: (at: string) => void;
  readonly hasMore: boolean;
  readonly onMore: () => void;
}

export function TickList({ ticks, chosen, onChoose, hasMore, onMore }: TickListProps) {
  return (
    <Card
      title="What changed"
      note={plural(ticks.length, "moment") + (hasMore ? " and more" : "")}
      isFlush
      actions={<CopyAsCsv csv={() => ticksAsCsv(ticks)} />}
    >
      {ticks.length === 0 && <EmptyState title="Nothing was changed in this time" />}
      <ol className={styles.ticks} aria-label="Moments of change">
        {ticks.map((tick) => (
          <Row key={tick.id} tick={tick} isChosen={tick.id === chosen} onChoose={onChoose} />
        ))}
      </ol>
      {hasMore && (
        <div className={styles.more}>
          <Button onClick={onMore}>Show earlier ones</Button>
        </div>
      )}
    </Card>
  );
}

interface RowProps {
  readonly tick: Tick;
  readonly isChosen: boolean;
  readonly onChoose: (at: string) => void;
}

const MOST_TOLD = 4;

function Row({ tick, isChosen, onChoose }: RowProps) {
  const colourOf = useTeamColour();
  const shown = tick.changes.slice(0, MOST_TOLD);
  const more = tick.changes_count - shown.length;
  return (
    <li>
      <button
        type="button"
        className={styles.tick}
        aria-pressed={isChosen}
        onClick={() => {
          onChoose(tick.at);
        }}
      >
        <time dateTime={tick.at}>{clockTime(milliseconds(tick.at))}</time>
        <span className={styles.told}>
          {shown.map((change, index) => (
            <span key={change.job_id ?? index} title={nameOf(change)}>
              <span
                className={styles.bars}
                style={{ "--team": colourOf(change.team) }}
                aria-hidden="true"
              >
                <i style={{ "--gpus": Math.min(change.gpus_before, 16) }} />
                <i style={{ "--gpus": Math.min(change.gpus_after, 16) }} />
              </span>
              {changeText(change)}
              {reasonText(change) !== "" && <em> {reasonText(change)}</em>}
            </span>
          ))}
          {more > 0 && <span>and {plural(more, "change")} more</span>}
          {tick.alarm !== "" && <span className={styles.alarm}>Alarm: {tick.alarm}</span>}
        </span>
        <span className={styles.took}>planned in {formatDuration(tick.plan_seconds)}</span>
      </button>
    </li>
  );
}
