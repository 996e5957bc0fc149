/** Who of the team held how many GPU-hours, and for what? */

import type { ReactNode } from "react";
import { Link } from "react-router";

import { gpuHoursAddress, useGpuHours, useLabelledJobs } from "../../../api/gpuHours";
import type { GpuUsageRow } from "../../../api/types";
import { useInAddress } from "../../../app/useInAddress";
import { Card } from "../../../design/Card";
import { EmptyState } from "../../../design/EmptyState";
import { SelectField } from "../../../design/Field";
import { Problem } from "../../../design/Problem";
import { SkeletonRows } from "../../../design/Skeleton";
import { formatGpuHours, formatMetric, formatShare, NONE } from "../../../domain/format";
import { heldOf, labelKeys, mostHeld } from "../../../domain/gpuHours";
import type { UsagePeriod } from "../../../domain/usagePeriod";
import outputs from "../../job/results/Outputs.module.css";
import styles from "./Usage.module.css";

interface TableProps {
  readonly team: string;
  readonly period: UsagePeriod;
}

export function ByPerson({ team, period }: TableProps) {
  return (
    <GpuHoursTable
      title="By person"
      of="Person or token"
      by="user"
      team={team}
      period={period}
      nameOf={({ user }) => user ?? null}
      linkOf={(name) => `/jobs?team=${team}&user=${encodeURIComponent(name)}`}
    />
  );
}

const MOST_JOBS = 20;

export function ByJob({ team, period }: TableProps) {
  return (
    <GpuHoursTable
      title="By job"
      of="Job"
      by="job"
      team={team}
      period={period}
      most={MOST_JOBS}
      nameOf={({ job, job_name }) => (job == null ? null : (job_name ?? job))}
      keyOf={({ job }) => job ?? ""}
      linkOf={(_, { job }) => `/jobs/${job ?? ""}`}
    />
  );
}

export function ByPool({ team, period }: TableProps) {
  return (
    <GpuHoursTable
      title="By pool"
      of="Pool"
      by="pool"
      team={team}
      period={period}
      nameOf={({ pool }) => pool ?? null}
      linkOf={(name) => `/jobs?team=${team}&pool=${encodeURIComponent(name)}`}
    />
  );
}

export function ByLabel({ team, period }: TableProps) {
  const jobs = useLabelledJobs(team);
  const [chosen, setChosen] = useInAddress("label");
  const keys = labelKeys(jobs.data?.items ?? []);
  const key = chosen === "" ? (keys[0] ?? "") : chosen;
  const choice = (
    <SelectField
      label="Label"
      value={key}
      options={keys}
      all={keys.length > 0 ? "the most common" : "no label"}
      onChange={setChosen}
    />
  );
  if (key === "") {
    return (
      <Card title="By label" isFlush>
        {jobs.isPending ? (
          <SkeletonRows rows={3} height={28} />
        ) : (
          <EmptyState title="No job has a label yet">
            <p>
              Tell projects apart: <code>labels: &#123;project: digits&#125;</code> in a job&apos;s
              spec.
            </p>
          </EmptyState>
        )}
      </Card>
    );
  }
  return (
    <GpuHoursTable
      title="By label"
      of={key}
      by={`label:${key}`}
      team={team}
      period={period}
      choice={choice}
      nameOf={({ labels }) => labels?.[key] ?? null}
      linkOf={(name) => `/jobs?team=${team}&label=${encodeURIComponent(`${key}=${name}`)}`}
    />
  );
}

interface GpuHoursTableProps extends TableProps {
  readonly title: string;
  readonly of: string;
  readonly by: string;
  readonly choice?: ReactNode;
  /** What a row is about; null: what no job held, or one without such a label. */
  readonly nameOf: (row: GpuUsageRow) => string | null;
  readonly linkOf: (name: string, row: GpuUsageRow) => string;
  /** Where several rows may have one name. */
  readonly keyOf?: (row: GpuUsageRow) => string;
  /** So many of those that held most are shown; the table that one downloads has all. */
  readonly most?: number;
}

function GpuHoursTable(props: GpuHoursTableProps) {
  const { title, of, by, team, period, choice, nameOf, linkOf, most = Infinity } = props;
  const { keyOf = (row: GpuUsageRow) => nameOf(row) ?? "" } = props;
  const usage = useGpuHours({ team, by, period });
  const rows = (usage.data?.items ?? []).filter((row) => heldOf(row) > 0);
  const shown = mostHeld(rows, most);
  const all = usage.data === undefined ? 0 : heldOf(usage.data.total); // also of rows that are not here
  const hasCost = rows.some(({ cost }) => cost !== null);
  return (
    <Card
      title={title}
      note={shown.length < rows.length && `the ${shown.length} that held most, of ${rows.length}`}
      isFlush
      actions={
        <span className={styles.actions}>
          {choice}
          <a className={styles.download} href={gpuHoursAddress({ team, by, period })} download>
            CSV
          </a>
        </span>
      }
    >
      {usage.isPending && <SkeletonRows rows={3} height={28} />}
      {usage.isLoadingError && <Problem error={usage.error} onRetry={() => void usage.refetch()} />}
      {usage.data !== undefined && rows.length === 0 && (
        <EmptyState title="No job held a GPU in this time" />
      )}
      {rows.length > 0 && (
        <div className={outputs.scroll}>
          <table className={outputs.entries}>
            <caption className="visually-hidden">{`GPU-hours, ${title.toLowerCase()}`}</caption>
            <thead>
              <tr>
                <th scope="col">{of}</th>
                <th scope="col">Own, GPU-h</th>
                <th scope="col">Borrowed, GPU-h</th>
                <th scope="col">Share</th>
                {hasCost && <th scope="col">Cost</th>}
              </tr>
            </thead>
            <tbody>
              {shown.map((row) => {
                const name = nameOf(row);
                return (
                  <tr key={keyOf(row)}>
                    <th scope="row">
                      {name === null ? `without ${of}` : <Link to={linkOf(name, row)}>{name}</Link>}
                    </th>
                    <td>{formatGpuHours(row.guaranteed_gpu_hours)}</td>
                    <td>{formatGpuHours(row.borrowed_gpu_hours)}</td>
                    <td>{formatShare(heldOf(row) / all)}</td>
                    {hasCost && <td>{row.cost === null ? NONE : formatMetric(row.cost)}</td>}
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}
