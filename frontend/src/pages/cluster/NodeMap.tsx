/** Every node as a tile, every GPU as a cell in it. Arrow keys walk from node to node. */

import { memo, type KeyboardEvent } from "react";

import { useTeamColour } from "../../design/teamColour";
import {
  conditionText,
  describeGpu,
  describeNode,
  jobsOn,
  memoryShare,
  type MapGpu,
  type MapNode,
} from "../../domain/clusterMap";
import { walked } from "../../domain/walking";
import styles from "./NodeMap.module.css";

interface NodeMapProps {
  readonly nodes: readonly MapNode[];
  readonly chosen: string;
  readonly onChoose: (node: string) => void;
}

const MOST_ROOMY = 24; // nodes; of more, the names of jobs stand beside the map only

export function NodeMap({ nodes, chosen, onChoose }: NodeMapProps) {
  const colourOf = useTeamColour();
  const first = nodes.some(({ name }) => name === chosen) ? chosen : nodes[0]?.name;
  return (
    <ul className={styles.nodes} aria-label="Nodes" data-dense={nodes.length > MOST_ROOMY} data-map>
      {nodes.map((node) => (
        <li key={node.name}>
          <Tile
            node={node}
            colourOf={colourOf}
            isChosen={node.name === chosen}
            isFirst={node.name === first}
            isRoomy={nodes.length <= MOST_ROOMY}
            onChoose={onChoose}
          />
        </li>
      ))}
    </ul>
  );
}

interface TileProps {
  readonly node: MapNode;
  readonly colourOf: (team: string) => string;
  readonly isChosen: boolean;
  /** Whether it is the one that Tab comes to. */
  readonly isFirst: boolean;
  readonly isRoomy: boolean;
  readonly onChoose: (node: string) => void;
}

const Tile = memo(function Tile(props: TileProps) {
  const { node, colourOf, isChosen, isFirst, isRoomy, onChoose } = props;
  return (
    <button
      type="button"
      className={styles.node}
      data-condition={node.condition}
      aria-pressed={isChosen}
      tabIndex={isFirst ? 0 : -1}
      onClick={() => {
        onChoose(isChosen ? "" : node.name);
      }}
      onKeyDown={walk}
    >
      <span className={styles.head}>
        <span className={styles.name}>{node.name}</span>
        <span className="visually-hidden">{describeNode(node)}</span>
        {node.condition === "open" ? (
          <span className={styles.count} aria-hidden="true">
            {node.used}/{node.gpus.length}
          </span>
        ) : (
          <span className={styles.condition} aria-hidden="true">
            {conditionText(node.condition)}
          </span>
        )}
      </span>
      <span className={styles.cells} aria-hidden="true">
        {node.gpus.map((gpu) => (
          <GpuCell key={gpu.index} gpu={gpu} colourOf={colourOf} />
        ))}
      </span>
      {isRoomy && <Jobs node={node} colourOf={colourOf} />}
    </button>
  );
});

const MOST_NAMED = 3;

function Jobs({ node, colourOf }: Pick<TileProps, "node" | "colourOf">) {
  const jobs = jobsOn(node);
  return (
    <span className={styles.jobs} aria-hidden="true">
      {jobs.slice(0, MOST_NAMED).map(({ id, name, team, gpus }) => (
        <span key={id} style={{ "--team": colourOf(team) }}>
          {name} <b>{gpus}</b>
        </span>
      ))}
      {jobs.length > MOST_NAMED && <em>and {jobs.length - MOST_NAMED} more</em>}
    </span>
  );
}

interface GpuCellProps {
  readonly gpu: MapGpu;
  readonly colourOf: (team: string) => string;
}

/** Filled as far as it is busy; full and paler where that is not known. */
function GpuCell({ gpu, colourOf }: GpuCellProps) {
  const { claim, use } = gpu;
  const memory = memoryShare(use);
  if (claim === null) return <span className={styles.cell} data-free title={describeGpu(gpu)} />;
  return (
    <span
      className={styles.cell}
      data-slow={use?.is_slow === true || undefined}
      data-untold={use?.utilisation == null || undefined}
      title={describeGpu(gpu)}
      style={{ "--team": colourOf(claim.team), "--busy": use?.utilisation ?? 1 }}
    >
      {memory !== null && <span className={styles.memory} style={{ "--share": memory }} />}
    </span>
  );
}

function walk(event: KeyboardEvent<HTMLButtonElement>): void {
  const map = event.currentTarget.closest("[data-map]");
  const tiles = [...(map?.querySelectorAll("button") ?? [])];
  // Of what holds them: a tile's own place is told from its holder, which keeps it from the others.
  const places = [...(map?.children ?? [])].map((holder) => holder.getBoundingClientRect());
  const next = walked(event.key, tiles.indexOf(event.currentTarget), places);
  if (next === null) return;
  event.preventDefault();
  tiles[next]?.focus();
}
