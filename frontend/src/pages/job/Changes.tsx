/** The timeline in words, newest first: what changed, why, and what it cost. */

import { useState } from "react";

import { Button } from "../../design/Button";
import { describeChange, type Change } from "../../domain/changes";
import { formatDuration } from "../../domain/format";
import { describeGain } from "../../domain/predictions";
import { reasonLabel } from "../../domain/reasons";
import { absoluteTime, clockTime } from "../../domain/time";
import styles from "./Changes.module.css";

const SHOWN = 4;

export function Changes({ changes }: { readonly changes: readonly Change[] }) {
  const [isOpen, setOpen] = useState(false);
  const newestFirst = changes.toReversed();
  const shown = isOpen ? newestFirst : newestFirst.slice(0, SHOWN);
  return (
    <>
      <ol className={styles.changes} aria-label="Changes, newest first">
        {shown.map((change) => (
          <Row key={change.generation} change={change} />
        ))}
      </ol>
      {changes.length > SHOWN && (
        <Button
          look="quiet"
          onClick={() => {
            setOpen(!isOpen);
          }}
        >
          {isOpen ? "Show fewer" : `Show all ${changes.length}`}
        </Button>
      )}
    </>
  );
}

function Row({ change }: { readonly change: Change }) {
  const gain = change.kind === "start" ? "" : describeGain(change);
  return (
    <li className={styles.row} data-kind={change.kind}>
      <span className={styles.mark} aria-hidden="true">
        {MARKS[change.kind]}
      </span>
      <p className={styles.what}>
        <strong>{describeChange(change)}</strong>
        <span className={styles.reason}>{reasonLabel(change.reason)}</span>
      </p>
      <p className={styles.cost}>
        {change.kind === "start" ? "" : `stall ${formatDuration(change.stallSeconds)}`}
        <time title={absoluteTime(change.at)}>{clockTime(change.at)}</time>
      </p>
      {gain !== "" && <p className={styles.message}>{gain}</p>}
      {change.message !== "" && <p className={styles.message}>{change.message}</p>}
    </li>
  );
}

const MARKS: Record<Change["kind"], string> = {
  start: "▸",
  grow: "+",
  shrink: "−",
  batch: "≡",
  regroup: "↻",
};
