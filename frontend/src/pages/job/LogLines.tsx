/** A scrolling list of log lines that stays at its end until somebody scrolls up. */

import { memo, useLayoutEffect, useRef, useState } from "react";

import type { LogLine } from "../../api/types";
import { Button } from "../../design/Button";
import { EmptyState } from "../../design/EmptyState";
import { keyOf, shortWorker } from "../../domain/logs";
import { PALETTE_SIZE } from "../../domain/teamColours";
import { clockTime, milliseconds } from "../../domain/time";
import styles from "./LogLines.module.css";

interface LogLinesProps {
  readonly lines: readonly LogLine[];
  readonly workers: readonly string[];
  readonly jobId: string;
  readonly isFiltered: boolean;
  readonly isComplete: boolean;
}

/** So near the end, in pixels, counts as at the end. */
const NEAR_END = 24;

export function LogLines({ lines, workers, jobId, isFiltered, isComplete }: LogLinesProps) {
  const box = useRef<HTMLDivElement>(null);
  const [isFollowing, setFollowing] = useState(true);

  // Before the browser paints, so that lines which push others out are never seen as scrolling.
  useLayoutEffect(() => {
    const element = box.current;
    if (element !== null && isFollowing) element.scrollTop = element.scrollHeight;
  }, [lines, isFollowing]);

  const onScroll = () => {
    const element = box.current;
    if (element === null) return;
    const rest = element.scrollHeight - element.scrollTop - element.clientHeight;
    setFollowing(rest < NEAR_END);
  };

  return (
    <div className={styles.frame}>
      <div
        ref={box}
        className={styles.box}
        data-grows={!isComplete && lines.length > 0}
        role="log"
        aria-label="Log lines"
        tabIndex={0}
        onScroll={onScroll}
      >
        {lines.length === 0 && <NoLines isFiltered={isFiltered} isComplete={isComplete} />}
        {lines.map((line) => (
          <Line
            key={keyOf(line)}
            line={line}
            colour={colourOf(line.worker, workers)}
            jobId={jobId}
          />
        ))}
      </div>
      {!isFollowing && (
        <div className={styles.resume}>
          <Button
            look="primary"
            onClick={() => {
              setFollowing(true);
            }}
          >
            Follow again
          </Button>
        </div>
      )}
    </div>
  );
}

function NoLines({ isFiltered, isComplete }: Pick<LogLinesProps, "isFiltered" | "isComplete">) {
  if (isFiltered) {
    return (
      <EmptyState title="No line matches">
        <p>Change the filter above.</p>
      </EmptyState>
    );
  }
  return isComplete ? (
    <EmptyState title="It printed nothing" />
  ) : (
    <EmptyState title="No output yet">
      <p>What the workers print stands here as it is written.</p>
    </EmptyState>
  );
}

interface LineProps {
  readonly line: LogLine;
  readonly colour: string;
  readonly jobId: string;
}

const Line = memo(function Line({ line, colour, jobId }: LineProps) {
  return (
    <p className={styles.line} data-stream={line.stream}>
      <time dateTime={line.at} title={line.at}>
        {clockTime(milliseconds(line.at))}
      </time>
      <span className={styles.worker} style={{ color: colour }} title={line.worker}>
        {shortWorker(line.worker, jobId)}
      </span>
      <span className={styles.text}>{line.text}</span>
    </p>
  );
});

function colourOf(worker: string, workers: readonly string[]): string {
  const hue = `var(--team-${Math.max(0, workers.indexOf(worker)) % PALETTE_SIZE})`;
  return `color-mix(in srgb, ${hue} 60%, var(--text))`; // so that it can be read
}
