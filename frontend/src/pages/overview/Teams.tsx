/** The four numbers of each team, always together. */

import { Link } from "react-router";

import { usePools, useTeams } from "../../api/cluster";
import type { TeamStanding } from "../../api/types";
import { Card } from "../../design/Card";
import { EmptyState } from "../../design/EmptyState";
import { Problem } from "../../design/Problem";
import { ShareBar } from "../../design/ShareBar";
import { SkeletonRows } from "../../design/Skeleton";
import { TeamMark } from "../../design/TeamMark";
import { formatMetric, plural } from "../../domain/format";
import styles from "./Teams.module.css";

export function Teams({ pool }: { readonly pool: string | undefined }) {
  const teams = useTeams(pool);
  const pools = usePools();
  const shown = pools.data?.items.filter(({ name }) => pool === undefined || name === pool) ?? [];
  const gpusTotal = shown.reduce((sum, { gpus_total }) => sum + gpus_total, 0);
  return (
    <Card
      title="Teams"
      note="guaranteed, fair share, allocated, borrowed or lent"
      actions={<Link to={quotasOf(pool)}>Quotas</Link>}
      isFlush
    >
      {teams.isPending && <SkeletonRows rows={2} height={112} />}
      {teams.isLoadingError && <Problem error={teams.error} onRetry={() => void teams.refetch()} />}
      {teams.data?.items.length === 0 && (
        <EmptyState title="No teams yet">
          <p>
            An administrator adds teams and their guarantees in the <a href="/admin/">admin</a>.
          </p>
        </EmptyState>
      )}
      <ul className={styles.list}>
        {teams.data?.items.map((team) => (
          <Team key={team.name} team={team} gpusTotal={gpusTotal} />
        ))}
      </ul>
    </Card>
  );
}

function quotasOf(pool: string | undefined): string {
  return pool === undefined ? "/quotas" : `/quotas?pool=${encodeURIComponent(pool)}`;
}

interface TeamProps {
  readonly team: TeamStanding;
  readonly gpusTotal: number;
}

function Team({ team, gpusTotal }: TeamProps) {
  const jobs = `${plural(team.running_jobs, "job")} running, ${team.waiting_jobs} waiting`;
  return (
    <li className={styles.team} aria-label={`Team ${team.name}`}>
      <div className={styles.head}>
        <strong>
          {team.is_mine ? (
            <Link to={`/teams/${team.name}`}>
              <TeamMark team={team.name} />
            </Link>
          ) : (
            <TeamMark team={team.name} />
          )}
        </strong>
        <span className={styles.jobs}>{jobs}</span>
      </div>
      <ShareBar team={team} gpusTotal={gpusTotal} />
      <dl className={styles.numbers}>
        <Number name="Guaranteed" value={team.guaranteed} />
        <Number name="Fair share" value={team.fair_share} />
        <Number name="Allocated" value={team.allocated} isMain />
        {team.lent > 0 ? (
          <Number name="Lent" value={team.lent} />
        ) : (
          <Number name="Borrowed" value={team.borrowed} />
        )}
      </dl>
    </li>
  );
}

interface NumberProps {
  readonly name: string;
  readonly value: number;
  readonly isMain?: boolean;
}

function Number({ name, value, isMain = false }: NumberProps) {
  return (
    <div data-main={isMain}>
      <dt>{name}</dt>
      <dd>{formatMetric(value)}</dd>
    </div>
  );
}
