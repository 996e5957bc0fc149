/** What did a month cost the team, who held most, and how did its jobs go? A page to be printed. */

import { Link, useParams } from "react-router";

import { reportAddress, useMonthReport } from "../../../api/gpuHours";
import type { MonthReport as Report } from "../../../api/types";
import { Button } from "../../../design/Button";
import { Card } from "../../../design/Card";
import { EmptyState } from "../../../design/EmptyState";
import { Problem } from "../../../design/Problem";
import { SkeletonRows } from "../../../design/Skeleton";
import { causesOf } from "../../../domain/fairness";
import { formatDuration, formatGpuTime } from "../../../domain/format";
import { heldOf } from "../../../domain/gpuHours";
import { linesOf, monthAfter, monthInWords, monthOf } from "../../../domain/monthReport";
import { LargestTable } from "./LargestTable";
import styles from "./Report.module.css";
import { WideTable } from "./WideTable";

export function MonthReport({ team }: { readonly team: string }) {
  const month = monthOf(useParams()["*"]);
  const report = useMonthReport(team, month);
  if (report.data === undefined) {
    return report.isLoadingError ? (
      <Problem error={report.error} onRetry={() => void report.refetch()} />
    ) : (
      <SkeletonRows rows={8} height={28} />
    );
  }
  return <Told team={team} report={report.data} />;
}

function Told({ team, report }: { readonly team: string; readonly report: Report }) {
  const here = `/teams/${team}/report`;
  const [earlier, later] = [monthAfter(report.month, -1), monthAfter(report.month, 1)];
  return (
    <article className={styles.report} aria-label={`Report of ${monthInWords(report.month)}`}>
      <div className={styles.heading}>
        <h2>{`Report of ${monthInWords(report.month)}`}</h2>
        <nav className={styles.tools} aria-label="Months" data-screen-only>
          <Link to={`${here}/${earlier}`}>{monthInWords(earlier)}</Link>
          {report.is_over && <Link to={`${here}/${later}`}>{monthInWords(later)}</Link>}
          <a href={reportAddress(team, report.month)} download>
            Download as CSV
          </a>
          <Button
            onClick={() => {
              window.print();
            }}
          >
            Print
          </Button>
        </nav>
      </div>
      <p className={styles.sentence}>{report.message}</p>
      {!report.is_over && (
        <p className={styles.remark}>The month goes on, or its last hours are not closed yet.</p>
      )}
      {report.unseen_seconds > 0 && (
        <p className={styles.remark}>
          {`For ${formatDuration(report.unseen_seconds)} nobody looked: what changed then counts from its end.`}
        </p>
      )}
      <Compared report={report} />
      <div className={styles.halves}>
        <LargestTable
          title="By pool"
          of="Pool"
          rows={report.by_pool.map((row) => [row.pool, row])}
        />
        <LargestTable
          title="By person"
          of="Person or token"
          rows={report.by_person.map((row) => [row.user, row])}
        />
      </div>
      <LargestTable
        title="Largest jobs"
        of="Job"
        rows={report.by_job.map((row) => [`${row.job_name} (${row.job})`, row])}
      />
      {report.by_label.length > 0 && (
        <LargestTable
          title="By label"
          of="Label"
          note="a job with two labels is in both"
          rows={report.by_label.map((row) => [`${row.label}=${row.value}`, row])}
        />
      )}
      <Owed report={report} />
    </article>
  );
}

function Compared({ report }: { readonly report: Report }) {
  if (heldOf(report.total) === 0 && report.since === report.until) {
    return (
      <Card title="The month in all">
        <EmptyState title="No hour of this month is accounted for" />
      </Card>
    );
  }
  return (
    <Card title="The month in all" note="GPU-hours, money and jobs" isFlush>
      <WideTable caption="The month beside the one before">
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">{monthInWords(report.month)}</th>
            <th scope="col">{monthInWords(report.before.month)}</th>
            <th scope="col">Change</th>
          </tr>
        </thead>
        <tbody>
          {linesOf(report).map(({ name, now, before, change }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{now}</td>
              <td>{before}</td>
              <td>{change}</td>
            </tr>
          ))}
        </tbody>
      </WideTable>
    </Card>
  );
}

function Owed({ report: { fairness } }: { readonly report: Report }) {
  const causes = causesOf(fairness);
  return (
    <Card title="Given what it was owed" isFlush>
      <p className={styles.owed}>{fairness.message}</p>
      {causes.length > 0 && (
        <WideTable caption="GPU time short, by cause">
          <thead>
            <tr>
              <th scope="col">Cause</th>
              <th scope="col">Pools</th>
              <th scope="col">GPU time short</th>
            </tr>
          </thead>
          <tbody>
            {causes.map(({ cause, label, gpuSeconds, pools }) => (
              <tr key={cause}>
                <th scope="row">{label}</th>
                <td>{pools.join(", ")}</td>
                <td>{formatGpuTime(gpuSeconds)}</td>
              </tr>
            ))}
          </tbody>
        </WideTable>
      )}
    </Card>
  );
}
