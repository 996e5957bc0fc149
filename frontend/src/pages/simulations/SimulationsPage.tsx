/** What would another policy, or another cluster, have done? What was asked, and a way to ask. */

import { useState } from "react";
import { Link, useNavigate, useSearchParams } from "react-router";

import { usePools } from "../../api/cluster";
import { useSession } from "../../api/session";
import { useSimulations } from "../../api/simulations";
import type { Simulation } from "../../api/types";
import { ToneBadge } from "../../design/Badge";
import { Button } from "../../design/Button";
import { Card } from "../../design/Card";
import { EmptyState } from "../../design/EmptyState";
import { useEndOfMinute } from "../../design/now";
import frame from "../../design/Page.module.css";
import { Problem } from "../../design/Problem";
import { SkeletonRows } from "../../design/Skeleton";
import { RelativeTime } from "../../design/Time";
import { formatPercent } from "../../domain/format";
import { daysSince, firstDraft, STATE_TONES } from "../../domain/simulations";
import { AskSimulation } from "./AskSimulation";
import styles from "./Simulations.module.css";

export default function SimulationsPage() {
  const [address, setAddress] = useSearchParams();
  const [isAsking, setIsAsking] = useState(address.has("since"));
  const found = useSimulations();
  const isAdmin = useSession().data?.user.is_admin ?? false;
  const pools = usePools().data?.items;
  const now = useEndOfMinute();
  const goTo = useNavigate();
  const items = found.data?.items ?? [];
  const pool = pools?.find(({ name }) => name === address.get("pool")) ?? pools?.[0];
  const since = Date.parse(address.get("since") ?? "");
  const first = firstDraft(pool, isAdmin);
  return (
    <div className={frame.page}>
      <title>Simulations · Concertina</title>
      <header className={frame.heading}>
        <h1>Simulations</h1>
        <p>What another policy, or another cluster, would have done</p>
      </header>
      <Card
        title={isAdmin ? "Everybody's" : "Yours"}
        note={items.length > 0 && "the newest first"}
        isFlush
        actions={
          <Button
            look="primary"
            disabled={pools === undefined}
            onClick={() => {
              setIsAsking(true);
            }}
          >
            New simulation
          </Button>
        }
      >
        {found.isPending && <SkeletonRows rows={3} height={48} />}
        {found.isLoadingError && (
          <Problem error={found.error} onRetry={() => void found.refetch()} />
        )}
        {found.isSuccess && items.length === 0 && (
          <EmptyState title="Nothing has been simulated yet">
            <p>
              Replay {isAdmin ? "the last days" : "a workload"} under two policies: the planner that
              runs the cluster decides, on a clock of its own.
            </p>
          </EmptyState>
        )}
        <ul className={styles.list} aria-label="Simulations">
          {items.map((simulation) => (
            <Row key={simulation.id} simulation={simulation} showsPerson={isAdmin} />
          ))}
        </ul>
      </Card>
      {isAsking && pools !== undefined && (
        <AskSimulation
          draft={Number.isNaN(since) ? first : { ...first, days: daysSince(since, now) }}
          onAsked={({ id }) => void goTo(`/simulations/${id}`)}
          onClose={() => {
            setIsAsking(false);
            setAddress({}, { replace: true });
          }}
        />
      )}
    </div>
  );
}

function Row({
  simulation,
  showsPerson,
}: {
  readonly simulation: Simulation;
  readonly showsPerson: boolean;
}) {
  const { id, title, state, progress, requested_at: at } = simulation;
  return (
    <li className={styles.row}>
      <Link to={`/simulations/${id}`}>{title}</Link>
      <span className={styles.note}>
        {showsPerson && `${simulation.requested_by}, `}
        <RelativeTime at={at} />
      </span>
      <ToneBadge
        tone={STATE_TONES[state]}
        text={state === "running" ? `running, ${formatPercent(progress)}` : state}
      />
    </li>
  );
}
