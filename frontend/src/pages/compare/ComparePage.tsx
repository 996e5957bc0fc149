/** How do a few jobs compare: their curves, what differs in their specs, and how they ended? */

import { useSearchParams } from "react-router";

import { useComparison } from "../../api/comparison";
import { useInAddress } from "../../app/useInAddress";
import { EmptyState } from "../../design/EmptyState";
import { Problem } from "../../design/Problem";
import { Skeleton } from "../../design/Skeleton";
import frame from "../../design/Page.module.css";
import { FEWEST, idsOf, MOST, wantedOf } from "../../domain/comparison";
import { plural } from "../../domain/format";
import { ChosenJobs } from "./ChosenJobs";
import { CompareChart } from "./CompareChart";
import { Differences, Outcomes } from "./CompareTables";
import styles from "./ComparePage.module.css";

export default function ComparePage() {
  const [named, setNamed] = useInAddress("jobs");
  const ids = idsOf(named);
  const change = (after: readonly string[]) => {
    setNamed(after.join(","));
  };
  const shown = ids.slice(0, MOST);
  return (
    <div className={frame.page}>
      <title>Compare · Concertina</title>
      <header className={frame.heading}>
        <h1>Compare</h1>
        {ids.length > 0 && <p>{plural(ids.length, "job")}</p>}
      </header>
      {ids.length > MOST && (
        <p role="alert" className={styles.said}>
          {ids.length} jobs are named, and {MOST} can be compared: here are the first {MOST}. Take
          some away to see the others.
        </p>
      )}
      {shown.length === 0 ? (
        <>
          <ChosenJobs ids={ids} jobs={[]} missing={[]} onChange={change} />
          <EmptyState title="Choose the jobs to compare">
            <p>
              Add {FEWEST} to {MOST} here, or choose them in the list of jobs.
            </p>
          </EmptyState>
        </>
      ) : (
        <Compared ids={ids} shown={shown} onChange={change} />
      )}
    </div>
  );
}

interface ComparedProps {
  readonly ids: readonly string[];
  readonly shown: readonly string[];
  readonly onChange: (ids: readonly string[]) => void;
}

function Compared({ ids, shown, onChange }: ComparedProps) {
  const [address] = useSearchParams();
  const wanted = wantedOf(address.get("metric") ?? "");
  const comparison = useComparison(shown, wanted);
  const { data } = comparison;
  if (data === undefined) {
    return comparison.isLoadingError ? (
      <>
        <ChosenJobs ids={ids} jobs={[]} missing={[]} onChange={onChange} />
        <Problem error={comparison.error} onRetry={() => void comparison.refetch()} />
      </>
    ) : (
      <div role="status" aria-label="Loading the jobs" className={frame.page}>
        <Skeleton height={64} />
        <Skeleton height={380} />
        <Skeleton height={280} />
      </div>
    );
  }
  const jobs = data.items.filter(({ id }) => shown.includes(id)); // one was just taken away
  return (
    <>
      <ChosenJobs ids={ids} jobs={jobs} missing={data.missing} onChange={onChange} />
      {jobs.length < FEWEST && (
        <p role="status" className={styles.said}>
          {jobs.length === 1 ? "Add another job to compare it with." : "Add the jobs to compare."}
        </p>
      )}
      {jobs.length > 0 && (
        <>
          <CompareChart jobs={jobs} comparison={data} wanted={wanted} />
          <div className={styles.tables}>
            <Outcomes jobs={jobs} comparison={data} wanted={wanted} />
            <Differences jobs={jobs} />
          </div>
        </>
      )}
    </>
  );
}
