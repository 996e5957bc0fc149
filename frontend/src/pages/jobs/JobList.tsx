/** The list that the filter leaves, and what is done with it. */

import { useQueryClient } from "@tanstack/react-query";

import { Button } from "../../design/Button";
import { Command } from "../../design/Command";
import { EmptyState } from "../../design/EmptyState";
import { Problem } from "../../design/Problem";
import { countOfWishes, EVERY_JOB, type JobQuery } from "../../domain/jobFilter";
import { BulkActions } from "./BulkActions";
import { JobTable } from "./JobTable";
import { ListTools } from "./ListTools";
import { useChosen } from "./useChosen";
import type { JobAddress } from "./useJobAddress";
import type { useJobList } from "./useJobList";
import styles from "./JobsPage.module.css";

interface JobListProps {
  readonly address: JobAddress;
  readonly query: JobQuery;
  readonly opened: ReturnType<typeof useJobList>;
  readonly total: number | undefined;
}

export function JobList({ address, query, opened, total }: JobListProps) {
  const { filter, change } = address;
  const { list, head } = opened;
  const { pages } = list;
  const queries = useQueryClient();
  const chosen = useChosen(list, query, total);
  const again = () => {
    void queries.invalidateQueries({ queryKey: ["jobs"] });
    pages.renew(() => true);
  };
  return (
    <section className={styles.list} aria-label="List of jobs">
      <div className={styles.tools}>
        {chosen.jobs.length > 0 ? (
          <BulkActions chosen={chosen} onDone={again} />
        ) : (
          <p className={styles.note} role="status">
            {chosen.isReading ? "Reading the list …" : chosen.notice}
          </p>
        )}
        <ListTools address={address} query={query} chosen={chosen.jobs} total={total} />
      </div>
      {pages.hasNews && (
        <p className={styles.news} role="status">
          There are newer jobs at the top.
        </p>
      )}
      <JobTable
        key={list.key}
        list={list}
        total={total}
        columns={address.columns}
        order={filter.order}
        onOrder={(order) => {
          change((now) => ({ ...now, order }));
        }}
        chosen={chosen}
        narrow={change}
      >
        {(head.isLoadingError || pages.problem !== null) && (
          <div className={styles.below}>
            <Problem error={head.isLoadingError ? head.error : pages.problem} onRetry={again} />
          </div>
        )}
        {pages.isBegun && pages.rows === 0 && <Nothing address={address} />}
      </JobTable>
    </section>
  );
}

interface NothingProps {
  readonly address: JobAddress;
}

function Nothing({ address: { filter, change } }: NothingProps) {
  if (countOfWishes(filter) > 0) {
    return (
      <EmptyState title="No job is like this">
        <p>Take back a part of the filter to see more.</p>
        <Button
          onClick={() => {
            change(({ order }) => ({ ...EVERY_JOB, order }));
          }}
        >
          Show all jobs
        </Button>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No jobs yet">
      <p>All jobs of your teams will stand here, for as long as they are kept:</p>
      <Command text="concertina submit -f job.yaml" />
    </EmptyState>
  );
}
