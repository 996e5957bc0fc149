/** How many GPUs are in use, free, out of service, and how busy are they? */

import { Stat } from "../../design/Stat";
import { totalsOf, type MapNode } from "../../domain/clusterMap";
import { formatCount, formatGpus, formatPercent, NONE, plural } from "../../domain/format";
import team from "../team/TeamPage.module.css";

export function Totals({ nodes }: { readonly nodes: readonly MapNode[] }) {
  const totals = totalsOf(nodes);
  const closed = nodes.filter(({ condition }) => condition !== "open").length;
  return (
    <section aria-label="All of them" className={team.standing}>
      <div className={team.numbers}>
        <Stat
          label="In use"
          value={
            <>
              {formatCount(totals.used)} <small>of {formatGpus(totals.gpus)}</small>
            </>
          }
          note={`on ${plural(nodes.length, "node")}`}
        />
        <Stat
          label="Free"
          value={
            <>
              {formatCount(totals.free)} <small>{totals.free === 1 ? "GPU" : "GPUs"}</small>
            </>
          }
          note="on nodes that take work"
        />
        <Stat
          label="Out of service"
          value={
            <>
              {formatCount(totals.closed)} <small>{totals.closed === 1 ? "GPU" : "GPUs"}</small>
            </>
          }
          note={`on ${plural(closed, "node")}`}
        />
        <Stat
          label="Busy, on average"
          value={totals.busy === null ? NONE : formatPercent(totals.busy)}
          note={totals.told === 0 ? "no GPU tells it" : `told by ${formatGpus(totals.told)}`}
        />
      </div>
    </section>
  );
}
