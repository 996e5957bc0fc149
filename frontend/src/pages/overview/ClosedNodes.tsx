/** Which nodes take no new work, and why? Nothing at all while every node does. */

import { usePools } from "../../api/cluster";
import { RelativeTime } from "../../design/Time";
import { closedNodes, type ClosedNode } from "../../domain/nodes";
import styles from "./ClosedNodes.module.css";

export function ClosedNodes() {
  const pools = usePools();
  const nodes = closedNodes(pools.data?.items ?? []);
  if (nodes.length === 0) return null;
  return (
    <ul aria-label="Nodes that take no new work" className={styles.nodes}>
      {nodes.map((node) => (
        <li key={node.name} className={node.silentSince === null ? undefined : styles.silent}>
          <Sentence node={node} />
        </li>
      ))}
    </ul>
  );
}

function Sentence({ node }: { readonly node: ClosedNode }) {
  if (node.silentSince === null) {
    return (
      <>
        Node <b>{node.name}</b> {node.why} and takes no new work.
      </>
    );
  }
  return (
    <>
      Node <b>{node.name}</b> fell silent <RelativeTime at={node.silentSince} /> and takes no new
      work: {node.why}.
    </>
  );
}
