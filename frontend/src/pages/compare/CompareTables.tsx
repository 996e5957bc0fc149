/** How the jobs ended or stand, and what differs in what was asked for: a column for each. */

import type { ComparedJob, Comparison } from "../../api/types";
import { Breakable } from "../../design/Breakable";
import { Card } from "../../design/Card";
import { CopyAsCsv } from "../../design/CopyAsCsv";
import { EmptyState } from "../../design/EmptyState";
import { useNow } from "../../design/now";
import { differencesOf, outcomesOf, rowsAsCsv, type ComparedRow } from "../../domain/comparedRows";
import { nameOf, type Wanted } from "../../domain/comparison";
import { plural } from "../../domain/format";
import { absoluteTime } from "../../domain/time";
import { LetterMark } from "./LetterMark";
import styles from "./ComparePage.module.css";

interface OutcomesProps {
  readonly jobs: readonly ComparedJob[];
  readonly comparison: Comparison;
  readonly wanted: Wanted;
}

export function Outcomes({ jobs, comparison, wanted }: OutcomesProps) {
  const rows = outcomesOf(jobs, nameOf(wanted, comparison.metric), useNow());
  return (
    <Card
      title="Outcomes"
      isFlush
      actions={
        <span className={styles.taking}>
          <CopyAsCsv what="the outcomes" csv={() => rowsAsCsv("outcome", jobs, rows)} />
        </span>
      }
    >
      <Table label="Outcomes" jobs={jobs} rows={rows} />
    </Card>
  );
}

export function Differences({ jobs }: { readonly jobs: readonly ComparedJob[] }) {
  const { rows, same } = differencesOf(jobs, absoluteTime);
  const differing = rows.filter(({ title }) => !title.startsWith("Submitted")).length;
  return (
    <Card
      title="What differs"
      note={jobs.length > 1 && `${plural(same, "field")} of their specs are the same`}
      isFlush
      actions={
        <span className={styles.taking}>
          <CopyAsCsv what="what differs" csv={() => rowsAsCsv("field", jobs, rows)} />
        </span>
      }
    >
      <Table label="What differs" jobs={jobs} rows={rows} isText />
      {jobs.length > 1 && differing === 0 && (
        <EmptyState title="Their specs are the same">
          <p>Whatever differs between them came from chance, or from what they ran on.</p>
        </EmptyState>
      )}
    </Card>
  );
}

interface TableProps {
  readonly label: string;
  readonly jobs: readonly ComparedJob[];
  readonly rows: readonly ComparedRow[];
  readonly isText?: boolean;
}

function Table({ label, jobs, rows, isText = false }: TableProps) {
  return (
    <div role="region" className={styles.scroll} aria-label={`Table: ${label}`} tabIndex={0}>
      <table className={styles.table} data-text={isText}>
        <caption className="visually-hidden">{label}</caption>
        <thead>
          <tr>
            <th scope="col">
              <span className="visually-hidden">Of each job</span>
            </th>
            {jobs.map((job, place) => (
              <th key={job.id} scope="col">
                <LetterMark place={place} /> <span className={styles.name}>{job.name}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ title, texts }) => (
            <tr key={title}>
              <th scope="row">
                <Breakable text={title} />
              </th>
              {texts.map((text, place) => (
                <td key={jobs[place]?.id}>{text}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
