/** Which sweeps are there, and how far are they? */

import { Link } from "react-router";

import { useSweeps } from "../../api/sweeps";
import type { Sweep } from "../../api/types";
import { ToneBadge } from "../../design/Badge";
import { Button } from "../../design/Button";
import { Card } from "../../design/Card";
import { EmptyState } from "../../design/EmptyState";
import frame from "../../design/Page.module.css";
import { Problem } from "../../design/Problem";
import rows from "../../design/Rows.module.css";
import { SkeletonRows } from "../../design/Skeleton";
import { RelativeTime } from "../../design/Time";
import { sweepStatus } from "../../domain/sweeps";

export default function SweepsPage() {
  const found = useSweeps();
  const items = found.data?.pages.flatMap((page) => page.items);
  return (
    <div className={frame.page}>
      <title>Sweeps · Concertina</title>
      <header className={frame.heading}>
        <h1>Sweeps</h1>
        <p>Many trials of one job, of which the best are searched</p>
      </header>
      <Card title="Sweeps of your teams" note="the newest first" isFlush>
        {found.isPending && <SkeletonRows rows={3} height={48} />}
        {found.isLoadingError && (
          <Problem error={found.error} onRetry={() => void found.refetch()} />
        )}
        {items?.length === 0 && (
          <EmptyState title="No sweeps yet">
            <p>
              A job spec with <code>sweep:</code> makes one:{" "}
              <code>concertina submit -f job.yaml</code>
            </p>
          </EmptyState>
        )}
        {items !== undefined && items.length > 0 && (
          <div className={rows.list}>
            {items.map((sweep) => (
              <Row key={sweep.id} sweep={sweep} />
            ))}
          </div>
        )}
      </Card>
      {found.hasNextPage && (
        <Button disabled={found.isFetching} onClick={() => void found.fetchNextPage()}>
          Show older ones
        </Button>
      )}
    </div>
  );
}

function Row({ sweep }: { readonly sweep: Sweep }) {
  const status = sweepStatus(sweep);
  return (
    <div className={rows.row}>
      <div className={rows.about}>
        <p className={rows.head}>
          <Link to={`/sweeps/${sweep.id}`}>
            <strong>{sweep.name}</strong>
          </Link>
          <code>{sweep.id}</code>
        </p>
        <p className={rows.note}>
          {sweep.goal} {sweep.metric} over {sweep.parameters.join(", ")} · team {sweep.team} ·{" "}
          {sweep.submitted_by} <RelativeTime at={sweep.submitted_at} />
        </p>
      </div>
      <ToneBadge tone={status.tone} text={status.text} />
    </div>
  );
}
