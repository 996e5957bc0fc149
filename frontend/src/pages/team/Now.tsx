/** How does a team stand now: its four numbers, and its jobs? */

import { usePools, useTeams } from "../../api/cluster";
import type { TeamStanding } from "../../api/types";
import { useInAddress } from "../../app/useInAddress";
import { Problem } from "../../design/Problem";
import { Segments } from "../../design/Segments";
import { ShareBar } from "../../design/ShareBar";
import { Stat } from "../../design/Stat";
import { useTeamColour } from "../../design/teamColour";
import { formatCount, formatGpus, plural } from "../../domain/format";
import { exchangeOf } from "../../domain/standing";
import { PoolNotes } from "../cluster/PoolNotes";
import { FinishedJobs } from "../overview/FinishedJobs";
import { Queue } from "../overview/Queue";
import { RunningJobs } from "../overview/RunningJobs";
import { Schedules } from "./Schedules";
import styles from "./TeamPage.module.css";

export function Now({ team }: { readonly team: string }) {
  return (
    <>
      <Standing team={team} />
      <RunningJobs team={team} />
      <div className={styles.halves}>
        <Queue team={team} />
        <FinishedJobs team={team} />
      </div>
      <Schedules team={team} />
    </>
  );
}

const ALL_POOLS = { value: "", text: "All pools" };

/** What it is promised, holds, takes of others or leaves to them, and waits for. */
function Standing({ team }: { readonly team: string }) {
  const pools = usePools();
  const items = pools.data?.items ?? [];
  const [chosen, setChosen] = useInAddress("pool");
  const pool = items.find(({ name }) => name === chosen)?.name;
  const teams = useTeams(pool);
  const standing = teams.data?.items.find(({ name }) => name === team);
  const shown = items.filter(({ name }) => pool === undefined || name === pool);
  const gpusTotal = shown.reduce((sum, { gpus_total }) => sum + gpus_total, 0);
  if (teams.isLoadingError) {
    return <Problem error={teams.error} onRetry={() => void teams.refetch()} />;
  }
  return (
    <>
      <PoolNotes pool={pool} />
      <section aria-label="Standing" className={styles.standing}>
        {items.length > 1 && (
          <div className={styles.pools}>
            <Segments
              label="Pool"
              options={[ALL_POOLS, ...items.map(({ name }) => ({ value: name, text: name }))]}
              value={pool ?? ""}
              onChange={setChosen}
            />
          </div>
        )}
        <FourNumbers standing={standing} />
        {standing !== undefined && gpusTotal > 0 && (
          <figure className={styles.share}>
            <ShareBar team={standing} gpusTotal={gpusTotal} />
            <Legend team={team} gpusTotal={gpusTotal} />
          </figure>
        )}
      </section>
    </>
  );
}

function FourNumbers({ standing }: { readonly standing: TeamStanding | undefined }) {
  const exchange = standing && exchangeOf(standing);
  const most = standing?.limit == null ? "" : `, at most ${formatGpus(standing.limit)}`;
  return (
    <div className={styles.numbers}>
      <Stat
        label="Guaranteed"
        value={standing && <Gpus count={standing.guaranteed} />}
        note={standing && `fair share now ${formatGpus(standing.fair_share)}${most}`}
      />
      <Stat
        label="Allocated"
        value={standing && <Gpus count={standing.allocated} />}
        note={standing && `to ${plural(standing.running_jobs, "job")}`}
      />
      <Stat
        label={exchange?.name ?? "Borrowed"}
        value={exchange && <Gpus count={exchange.gpus} />}
        note={exchange?.meaning}
      />
      <Stat
        label="Waiting"
        value={
          standing && (
            <>
              {formatCount(standing.waiting_jobs)}{" "}
              <small>{standing.waiting_jobs === 1 ? "job" : "jobs"}</small>
            </>
          )
        }
        note={standing && `for at least ${formatGpus(standing.waiting)}`}
      />
    </div>
  );
}

function Gpus({ count }: { readonly count: number }) {
  return (
    <>
      {formatCount(count)} <small>{count === 1 ? "GPU" : "GPUs"}</small>
    </>
  );
}

function Legend({ team, gpusTotal }: { readonly team: string; readonly gpusTotal: number }) {
  const colour = useTeamColour()(team);
  return (
    <figcaption className={styles.legend} style={{ "--team": colour }}>
      <span data-mark="own">within the guarantee</span>
      <span data-mark="borrowed">borrowed</span>
      <span data-mark="guarantee">guarantee</span>
      <span data-mark="fair">fair share</span>
      <span className={styles.whole}>{`of ${formatGpus(gpusTotal)}`}</span>
    </figcaption>
  );
}
