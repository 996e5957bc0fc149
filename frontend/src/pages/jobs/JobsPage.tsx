/** Every job there ever was: find some of them, and do one thing to many. */

import { useMemo, useState } from "react";
import { Link } from "react-router";

import { useSeesAll } from "../../api/session";
import { labelsOf } from "../../domain/jobColumns";
import { queryOf } from "../../domain/jobFilter";
import { Filters } from "./Filters";
import { JobList } from "./JobList";
import { useJobAddress } from "./useJobAddress";
import { useJobCount, useJobList } from "./useJobList";
import styles from "./JobsPage.module.css";

export default function JobsPage() {
  const address = useJobAddress();
  const { filter } = address;
  const [openedAt] = useState(() => Date.now());
  const query = useMemo(() => queryOf(filter, openedAt), [filter, openedAt]);
  const opened = useJobList(query);
  const total = useJobCount(query);
  const rows = opened.list.pages.held;
  return (
    <div className={styles.page}>
      <title>Jobs · Concertina</title>
      <div className={styles.heading}>
        <h1>Jobs</h1>
        <Count total={total} />
        <Link className={styles.other} to="/sweeps">
          Sweeps
        </Link>
        <Link className={styles.submit} to="/submit">
          Submit a job
        </Link>
      </div>
      <Filters
        address={address}
        people={distinct(rows.map((job) => job.submitted_by))}
        labels={distinct(rows.flatMap((job) => labelsOf(job.labels)))}
      />
      <JobList address={address} query={query} opened={opened} total={total} />
    </div>
  );
}

function Count({ total }: { readonly total: number | undefined }) {
  const seesAll = useSeesAll();
  if (total === undefined) return null;
  const count = `${total.toLocaleString("en")} ${total === 1 ? "job" : "jobs"}`;
  return <p className={styles.count}>{seesAll ? count : `${count} of your teams`}</p>;
}

const MOST_SUGGESTIONS = 100;

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].toSorted().slice(0, MOST_SUGGESTIONS);
}
