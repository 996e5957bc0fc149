/** Every job there ever was: find some of them, and do one thing to many. */

import { useMemo, useState } from "react";

import { useSeesAll } from "../../api/session";
import { labelsOf } from "../../domain/jobColumns";
import { queryOf, queryOfUnfinished, withOrder } from "../../domain/jobFilter";
import { Filters } from "./Filters";
import { JobList } from "./JobList";
import { useJobAddress } from "./useJobAddress";
import { useJobCount, useJobList } from "./useJobList";
import styles from "./JobsPage.module.css";

export default function JobsPage() {
  const address = useJobAddress();
  const { filter, change } = address;
  const [openedAt] = useState(() => Date.now());
  const query = useMemo(() => queryOf(filter, openedAt), [filter, openedAt]);
  const opened = useJobList(query);
  const total = useJobCount(query);
  const unfinished = useJobCount(queryOfUnfinished(filter)) ?? 0;
  const rows = opened.list.pages.held;
  return (
    <div className={styles.page}>
      <title>Jobs · Concertina</title>
      <div className={styles.heading}>
        <h1>Jobs</h1>
        <Count total={total} />
        {unfinished > 0 && (
          <p className={styles.note}>
            {unfinished} that {unfinished === 1 ? "has not ended is" : "have not ended are"} not in
            this order.{" "}
            <button
              type="button"
              className={styles.link}
              onClick={() => {
                change((now) => withOrder(now, "submitted"));
              }}
            >
              Sort by submission
            </button>
          </p>
        )}
      </div>
      <Filters
        address={address}
        people={distinct(rows.map((job) => job.submitted_by))}
        labels={distinct(rows.flatMap((job) => labelsOf(job.labels)))}
      />
      <JobList
        address={address}
        query={query}
        opened={opened}
        total={total}
        unfinished={unfinished}
      />
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
