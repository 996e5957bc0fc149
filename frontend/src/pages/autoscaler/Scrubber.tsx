/** A moment of the time that is shown: dragged, or walked with keys from change to change. */

import { useEffect, useRef, useState } from "react";

import { tickAfter, tickUntil } from "../../api/ticks";
import { Button } from "../../design/Button";
import { absoluteTime, milliseconds } from "../../domain/time";
import type { TimeRange } from "../../domain/timeRange";
import styles from "./AutoscalerPage.module.css";

interface ScrubberProps {
  readonly range: TimeRange;
  readonly at: number | null;
  /** Whether the newest change is shown as it comes. */
  readonly isFollowing: boolean;
  readonly onMove: (at: string) => void;
}

const STEPS = 240; // that the arrow keys take
const SETTLED_MILLISECONDS = 150;

export function Scrubber({ range, at, isFollowing, onMove }: ScrubberProps) {
  const [draft, setDraft] = useState<number | null>(null); // while it is dragged
  const [told, setTold] = useState("");
  const timer = useRef<number>(undefined);
  const moves = useRef(0); // so that the answer to a step is not taken after a later move
  useEffect(
    () => () => {
      window.clearTimeout(timer.current);
    },
    [],
  );
  const moment = draft ?? Math.min(Math.max(at ?? range.to, range.from), range.to);
  const move = (to: number) => {
    moves.current += 1;
    setDraft(to);
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => {
      setDraft(null);
      onMove(new Date(to).toISOString());
    }, SETTLED_MILLISECONDS);
  };
  const step = async (ways: -1 | 1) => {
    moves.current += 1;
    const mine = moves.current;
    const tick = await (ways === 1 ? tickAfter(moment) : tickUntil(moment - 1));
    if (mine !== moves.current) return;
    const place = tick && milliseconds(tick.at);
    const isThere = place !== null && place >= range.from && place <= range.to;
    setTold(isThere ? "" : `No ${ways === 1 ? "later" : "earlier"} change in this time`);
    if (isThere) onMove(tick?.at ?? "");
  };
  const tryStep = (ways: -1 | 1) => {
    step(ways).catch(() => {
      setTold("The service did not answer");
    });
  };
  return (
    <div className={styles.scrubber}>
      <input
        type="range"
        aria-label="Moment"
        aria-valuetext={absoluteTime(moment)}
        min={range.from}
        max={range.to}
        step={Math.max(1, Math.round((range.to - range.from) / STEPS))}
        value={moment}
        onChange={({ target }) => {
          move(Number(target.value));
        }}
      />
      <div className={styles.steps}>
        <Button
          onClick={() => {
            tryStep(-1);
          }}
        >
          ← Change before
        </Button>
        <span>{absoluteTime(moment)}</span>
        <Button
          onClick={() => {
            tryStep(1);
          }}
        >
          Next change →
        </Button>
        {range.isLive && !isFollowing && (
          <Button
            onClick={() => {
              onMove("");
            }}
          >
            Follow the newest
          </Button>
        )}
        <span role="status">{told}</span>
      </div>
    </div>
  );
}
