/** What would become of the job now, and what stands in its way. */

import type { DryRun } from "../../api/submission";
import { messageOf } from "../../api/errors";
import { plural } from "../../domain/format";
import { outlookInWords } from "../../domain/outlook";
import { sentenceOf } from "../../domain/specText";
import { axisTime, milliseconds } from "../../domain/time";
import styles from "./SubmitPage.module.css";

interface DryRunToldProps {
  readonly told: DryRun | null;
  readonly text: string;
  /** Why the text cannot be read; empty: it can. */
  readonly problem: string;
}

export function DryRunTold({ told, text, problem }: DryRunToldProps) {
  if (problem !== "") {
    return (
      <p role="status" className={styles.told} data-tone="danger">
        The text cannot be read. {problem}
      </p>
    );
  }
  const isOld = told !== null && told.text !== text;
  return (
    <div role="status" className={styles.told} aria-busy={isOld || told === null}>
      {told === null ? "Asking what would become of it …" : <Answer told={told} />}
    </div>
  );
}

function Answer({ told: { answer, error } }: { readonly told: DryRun }) {
  if (answer === null) return <p data-tone="danger">{messageOf(error)}</p>;
  const { outlook, problems, notes, trials } = answer;
  if (problems.length > 0) {
    return (
      <ul data-tone="danger">
        {problems.map((one) => (
          <li key={`${one.field} ${one.problem}`}>
            <code>{one.field}</code> {sentenceOf(one)}
          </li>
        ))}
      </ul>
    );
  }
  if (outlook === null) return <p>It would be accepted.</p>;
  const { tone, text } = outlookInWords(outlook, clock);
  return (
    <>
      <p data-tone={tone}>
        <strong>{text}</strong>
      </p>
      {[ofTrials(trials), outlook.message, ...notes]
        .filter((line) => line !== "")
        .map((line) => (
          <p key={line}>{line}</p>
        ))}
    </>
  );
}

function ofTrials(trials: number): string {
  return trials === 0 ? "" : `Its array makes ${plural(trials, "job")}; the first is looked at.`;
}

function clock(moment: string): string {
  return axisTime(milliseconds(moment), Math.abs(milliseconds(moment) - Date.now()) + 700_000);
}
