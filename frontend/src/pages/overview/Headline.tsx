/** The figures that say in one glance how the cluster does. */

import { usePools, useSummary, useTeams } from "../../api/cluster";
import { useSeesAll } from "../../api/session";
import type { Pool } from "../../api/types";
import { Cells, type Cell } from "../../design/Cells";
import { Stat } from "../../design/Stat";
import { useTeamColour } from "../../design/teamColour";
import { formatDuration, formatGpuTime, formatPercent, plural } from "../../domain/format";
import { CompletionTimes } from "./CompletionTimes";
import styles from "./Headline.module.css";

/** The window of completion times, utilisation and rescales. */
const HOURS = 24;

export function Headline() {
  const summary = useSummary(HOURS);
  const pools = usePools();
  const teams = useTeams();
  const waitingGpus = teams.data?.items.reduce((sum, team) => sum + team.waiting, 0);
  const data = summary.data;
  const ofAll = useSeesAll() ? "" : " in all teams"; // the lists below show fewer
  return (
    <section aria-label="Headline figures" className={styles.headline}>
      <GpusInUse pools={pools.data?.items} />
      <Stat
        label="Running"
        value={data && String(data.running)}
        note={data && (ofAll.trim() || `${data.completed} completed in ${HOURS} h`)}
      />
      <Stat
        label="Waiting"
        value={data && String(data.waiting)}
        note={waitingGpus === undefined ? undefined : `for ${plural(waitingGpus, "GPU")}${ofAll}`}
      />
      <CompletionTimes summary={data} />
      <Stat
        label="Utilisation"
        value={data && formatPercent(data.utilisation)}
        note={data && `${formatGpuTime(data.gpu_seconds)} in ${HOURS} h`}
      />
      <Stat
        label="Rescales"
        value={data && String(data.rescales)}
        note={data && `longest stall ${formatDuration(data.longest_stall_seconds)}`}
      />
    </section>
  );
}

function GpusInUse({ pools }: { readonly pools: readonly Pool[] | undefined }) {
  const colourOf = useTeamColour();
  if (pools === undefined) return <Stat label="GPUs in use" value={undefined} note={undefined} />;
  const used = pools.reduce((sum, pool) => sum + pool.gpus_used, 0);
  const total = pools.reduce((sum, pool) => sum + pool.gpus_total, 0);
  return (
    <Stat
      label="GPUs in use"
      value={
        <>
          {used} <small>/ {total}</small>
        </>
      }
      note={<Cells cells={gpuCells(pools, colourOf)} label={`${used} of ${total} in use`} />}
    />
  );
}

/** More cells than this are a texture, not a count. */
const MOST_CELLS = 24;

function gpuCells(pools: readonly Pool[], colourOf: (team: string) => string): Cell[] {
  const cells = pools.flatMap((pool) =>
    pool.nodes.flatMap((node) =>
      Array.from({ length: node.gpus }, (_, index) => {
        const claim = node.claims.find((candidate) => candidate.gpu_index === index);
        return {
          colour: claim === undefined ? null : colourOf(claim.team),
          title: `${node.name}:${index} ${claim === undefined ? "free" : claim.job_name}`,
        };
      }),
    ),
  );
  return cells.length > MOST_CELLS ? [] : cells;
}
