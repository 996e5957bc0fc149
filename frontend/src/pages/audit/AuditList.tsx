/** Entries as rows: when, who by which key from where, what about what, and what it changed. */

import { Link } from "react-router";

import type { AuditEntry } from "../../api/types";
import { useNow } from "../../design/now";
import { changedValues, pageOf, type AuditFilter, type ChangedValue } from "../../domain/audit";
import { humanise } from "../../domain/format";
import { absoluteTime, milliseconds, momentInList } from "../../domain/time";
import styles from "./AuditPage.module.css";

const MOST_VALUES = 4; // that are shown without being asked for

interface AuditListProps {
  readonly entries: readonly AuditEntry[];
  readonly onChoose: (changes: Partial<AuditFilter>) => void;
}

export function AuditList({ entries, onChoose }: AuditListProps) {
  const now = useNow();
  return (
    <ol className={styles.entries} aria-label="Entries of the audit log">
      {entries.map((entry) => (
        <li key={entry.id} className={styles.entry}>
          <time dateTime={entry.at} title={absoluteTime(milliseconds(entry.at))}>
            {momentInList(milliseconds(entry.at), now)}
          </time>
          <Sender entry={entry} onChoose={onChoose} />
          <div className={styles.what}>
            <p>
              <button
                type="button"
                className={styles.word}
                title={`Only ${entry.operation}`}
                onClick={() => {
                  onChoose({ operation: entry.operation });
                }}
              >
                {humanise(entry.operation)}
              </button>{" "}
              <Target target={entry.target} />
            </p>
            <Values values={changedValues(entry)} />
          </div>
          <Outcome entry={entry} />
        </li>
      ))}
    </ol>
  );
}

function Sender({
  entry,
  onChoose,
}: { readonly entry: AuditEntry } & Pick<AuditListProps, "onChoose">) {
  const { sender, token_prefix: prefix, address } = entry;
  const from = [prefix === "" ? "" : `${prefix}…`, address].filter((text) => text !== "");
  return (
    <div className={styles.who}>
      {sender === "" ? (
        <em>nobody known</em>
      ) : (
        <button
          type="button"
          className={styles.word}
          title={`Only what ${sender} did`}
          onClick={() => {
            onChoose({ sender });
          }}
        >
          {sender}
        </button>
      )}
      {from.length > 0 && <small>{from.join(" from ")}</small>}
    </div>
  );
}

function Target({ target }: { readonly target: string }) {
  const page = pageOf(target);
  if (page === null) return <code>{target}</code>;
  return (
    <Link to={page}>
      <code>{target}</code>
    </Link>
  );
}

function Values({ values }: { readonly values: readonly ChangedValue[] }) {
  const more = values.slice(MOST_VALUES);
  return (
    <>
      {values.length > 0 && <ValueLines values={values.slice(0, MOST_VALUES)} />}
      {more.length > 0 && (
        <details>
          <summary>{`${more.length} more`}</summary>
          <ValueLines values={more} />
        </details>
      )}
    </>
  );
}

function ValueLines({ values }: { readonly values: readonly ChangedValue[] }) {
  return (
    <ul className={styles.values}>
      {values.map(({ name, before, after }) => (
        <li key={name}>
          {humanise(name).toLowerCase()}{" "}
          {before !== "" && (
            <>
              <del>{before}</del> <span aria-hidden="true">→</span>{" "}
            </>
          )}
          <ins>{after === "" ? "none" : after}</ins>
        </li>
      ))}
    </ul>
  );
}

function Outcome({ entry: { outcome, answer, times } }: { readonly entry: AuditEntry }) {
  return (
    <p className={styles.outcome} data-outcome={outcome}>
      <strong>{outcome}</strong>
      {outcome !== "done" && answer > 0 && <small>{answer}</small>}
      {times > 1 && <small>{`${String(times)} times`}</small>}
    </p>
  );
}
