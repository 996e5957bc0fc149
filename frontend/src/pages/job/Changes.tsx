/** The timeline in words and numbers, newest first: what changed, why, and what it cost. */

import { useState } from "react";

import { Button } from "../../design/Button";
import { describeChange, type Change } from "../../domain/changes";
import { costOf, describeIdle, lostWorkOf, stallOf } from "../../domain/costs";
import { NONE } from "../../domain/format";
import { shortWorker } from "../../domain/logs";
import { describeGain } from "../../domain/predictions";
import { reasonLabel } from "../../domain/reasons";
import { absoluteTime, clockTime } from "../../domain/time";
import styles from "./Changes.module.css";

const SHOWN = 4;

interface ChangesProps {
  readonly changes: readonly Change[];
  readonly jobId: string;
}

export function Changes({ changes, jobId }: ChangesProps) {
  const [isOpen, setOpen] = useState(false);
  const newestFirst = changes.toReversed();
  const shown = isOpen ? newestFirst : newestFirst.slice(0, SHOWN);
  return (
    <>
      <table className={styles.changes}>
        <caption className="visually-hidden">Changes, newest first</caption>
        <thead>
          <tr>
            <th scope="col">At</th>
            <th scope="col">Change</th>
            <th scope="col">Reason</th>
            <th scope="col">Stall</th>
            <th scope="col">Transfer</th>
            <th scope="col">Lost work</th>
          </tr>
        </thead>
        {shown.map((change) => (
          <Rows key={change.generation} change={change} jobId={jobId} />
        ))}
      </table>
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

/** A row of numbers, and beneath it one of words. */
function Rows({ change, jobId }: { readonly change: Change; readonly jobId: string }) {
  const words = inWords(change, jobId);
  return (
    <tbody className={styles.rows} data-kind={change.kind}>
      <tr>
        <td className={styles.when}>
          <time title={absoluteTime(change.at)}>{clockTime(change.at)}</time>
        </td>
        <th scope="row" className={styles.what}>
          <span className={styles.mark} aria-hidden="true">
            {MARKS[change.kind]}
          </span>
          {describeChange(change)}
        </th>
        <td className={styles.reason}>{reasonLabel(change.reason)}</td>
        <Cost name="stall" value={stallOf(change)} />
        <Cost name="transfer" value={costOf(change.transferSeconds)} />
        <Cost name="lost work" value={lostWorkOf(change)} />
      </tr>
      {words.length > 0 && (
        <tr className={styles.words}>
          <td />
          <td colSpan={5}>
            {words.map((text) => (
              <p key={text}>{text}</p>
            ))}
          </td>
        </tr>
      )}
    </tbody>
  );
}

/** On a phone it carries its name, or is not there if there was no cost of the kind. */
function Cost({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <td data-label={name} data-none={value === NONE}>
      {value}
    </td>
  );
}

function inWords(change: Change, jobId: string): string[] {
  const lost = change.lostWorkers.map((worker) => shortWorker(worker, jobId)).join(", ");
  const gain = change.kind === "start" ? "" : describeGain(change);
  const cost = change.restart?.message ?? "";
  const texts = [lost && `Lost: ${lost}`, describeIdle(change), gain, change.message, cost];
  return texts.filter((text) => text !== "");
}

const MARKS: Record<Change["kind"], string> = {
  start: "▸",
  grow: "+",
  shrink: "−",
  batch: "≡",
  regroup: "↻",
};
