/** Which GPUs are there, who holds each of them, and which nodes take no work? */

import { useMemo } from "react";

import { useGpuUse, usePools } from "../../api/cluster";
import type { GpuUse } from "../../api/types";
import { useInAddress } from "../../app/useInAddress";
import { Card } from "../../design/Card";
import { CopyAsCsv } from "../../design/CopyAsCsv";
import { EmptyState } from "../../design/EmptyState";
import { Problem } from "../../design/Problem";
import { Segments } from "../../design/Segments";
import { Skeleton } from "../../design/Skeleton";
import frame from "../../design/Page.module.css";
import {
  holdersOf,
  isShown,
  mapAsCsv,
  mapOf,
  type MapNode,
  type Shown,
} from "../../domain/clusterMap";
import { plural } from "../../domain/format";
import { GpuTable } from "./GpuTable";
import { Legend } from "./Legend";
import { NodeCard } from "./NodeCard";
import { NodeMap } from "./NodeMap";
import { PoolMachines } from "./PoolMachines";
import { PoolNotes } from "./PoolNotes";
import { Totals } from "./Totals";
import styles from "./ClusterPage.module.css";

const NOTHING: readonly GpuUse[] = [];
const VIEWS = [
  { value: "", text: "Map" },
  { value: "table", text: "Table" },
];
const SHOWN: readonly { readonly value: Shown; readonly text: string }[] = [
  { value: "all", text: "All nodes" },
  { value: "free", text: "With free GPUs" },
  { value: "trouble", text: "Closed or slow" },
];

export default function ClusterPage() {
  const pools = usePools();
  const uses = useGpuUse().data?.items ?? NOTHING;
  const [pool, setPool] = useInAddress("pool");
  const items = pools.data?.items;
  const nodes = useMemo(() => mapOf(items ?? [], uses), [items, uses]);
  const names = (items ?? []).map(({ name }) => name);
  const chosen = names.includes(pool) ? pool : "";
  const here = nodes.filter((node) => chosen === "" || node.pool === chosen);
  return (
    <div className={frame.page}>
      <title>Cluster · Concertina</title>
      <header className={frame.heading}>
        <h1>Cluster</h1>
        {items !== undefined && (
          <p>
            {plural(nodes.length, "node")} in {plural(items.length, "pool")}
          </p>
        )}
      </header>
      {pools.isLoadingError && <Problem error={pools.error} onRetry={() => void pools.refetch()} />}
      {pools.isPending && <Skeleton height={320} />}
      {items !== undefined && (
        <>
          {names.length > 1 && (
            <Segments
              label="Pool"
              options={[
                { value: "", text: "All pools" },
                ...names.map((name) => ({ value: name, text: name })),
              ]}
              value={chosen}
              onChange={setPool}
            />
          )}
          <PoolNotes pool={chosen === "" ? undefined : chosen} withTrust />
          <Totals nodes={here} />
          <Nodes nodes={here} />
          <PoolMachines pools={items.filter(({ name }) => chosen === "" || name === chosen)} />
        </>
      )}
    </div>
  );
}

function Nodes({ nodes }: { readonly nodes: readonly MapNode[] }) {
  const [view, setView] = useInAddress("view");
  const [wish, setWish] = useInAddress("show");
  const [name, setName] = useInAddress("node");
  const shown = SHOWN.find(({ value }) => value === wish)?.value ?? "all";
  const visible = nodes.filter((node) => isShown(node, shown));
  const chosen = nodes.find((node) => node.name === name);
  const isTable = view === "table";
  return (
    <div className={styles.columns} data-chosen={chosen !== undefined}>
      <Card
        title={isTable ? "GPUs" : "Nodes and their GPUs"}
        note={shown !== "all" && `${plural(visible.length, "node")} of ${nodes.length}`}
        isFlush={isTable}
        actions={
          <div className={styles.tools}>
            <Segments
              label="Nodes"
              options={SHOWN}
              value={shown}
              onChange={(value) => {
                setWish(value === "all" ? "" : value);
              }}
            />
            <Segments label="View" options={VIEWS} value={isTable ? view : ""} onChange={setView} />
            <CopyAsCsv csv={() => mapAsCsv(visible)} />
          </div>
        }
      >
        {!isTable && <Legend holders={holdersOf(visible)} />}
        {visible.length === 0 && <Nothing shown={shown} />}
        {visible.length > 0 &&
          (isTable ? (
            <GpuTable nodes={visible} onChoose={setName} />
          ) : (
            <NodeMap nodes={visible} chosen={chosen?.name ?? ""} onChoose={setName} />
          ))}
      </Card>
      {chosen !== undefined && (
        <NodeCard
          key={chosen.name}
          node={chosen}
          onClose={() => {
            setName("");
          }}
        />
      )}
    </div>
  );
}

function Nothing({ shown }: { readonly shown: Shown }) {
  switch (shown) {
    case "all":
      return (
        <EmptyState title="There is no node yet">
          <p>An admin adds nodes to a pool, and their GPUs appear here.</p>
        </EmptyState>
      );
    case "free":
      return <EmptyState title="No node that takes work has a free GPU" />;
    case "trouble":
      return <EmptyState title="Every node takes work, and no worker is slow" />;
  }
}
