/** What is on one node, GPU by GPU, and what may an admin do with it? */

import { useEffect, useRef } from "react";

import { useSeesAll } from "../../api/session";
import { Button } from "../../design/Button";
import { Card } from "../../design/Card";
import { RelativeTime } from "../../design/Time";
import type { MapNode } from "../../domain/clusterMap";
import { offered } from "../../domain/maintenance";
import outputs from "../job/results/Outputs.module.css";
import { UseCells, UseHeadings } from "./GpuUse";
import { MaintainNode } from "./MaintainNode";
import styles from "./ClusterPage.module.css";

interface NodeCardProps {
  readonly node: MapNode;
  readonly onClose: () => void;
}

export function NodeCard({ node, onClose }: NodeCardProps) {
  const isAdmin = useSeesAll();
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    place.current?.scrollIntoView({ block: "nearest" });
  }, []);
  return (
    <div ref={place} className={styles.chosen}>
      <Card
        title={`Node ${node.name}`}
        isFlush
        actions={
          <Button look="quiet" aria-label={`Close node ${node.name}`} onClick={onClose}>
            Close
          </Button>
        }
      >
        <p className={styles.sentence} data-condition={node.condition}>
          <Condition node={node} />
        </p>
        {isAdmin && (
          <div className={styles.verbs}>
            {offered(node.node).map((what) => (
              <MaintainNode key={what} node={node.name} what={what} />
            ))}
          </div>
        )}
        <div className={outputs.scroll}>
          <table className={outputs.entries}>
            <caption className="visually-hidden">{`GPUs of ${node.name}`}</caption>
            <thead>
              <tr>
                <th scope="col">GPU</th>
                <UseHeadings />
              </tr>
            </thead>
            <tbody>
              {node.gpus.map((gpu) => (
                <tr key={gpu.index}>
                  <th scope="row">{gpu.index}</th>
                  <UseCells gpu={gpu} />
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Card>
    </div>
  );
}

function Condition({ node: { node, condition, pool } }: { readonly node: MapNode }) {
  switch (condition) {
    case "open":
      return <>Takes work of pool {pool}.</>;
    case "cordoned":
      return <>Cordoned: it takes no new work, and who is there may stay.</>;
    case "draining":
      return <>Draining: it takes no new work, and jobs move away from it.</>;
    case "silent":
      return (
        <>
          Silent since <RelativeTime at={node.silent_since ?? ""} />: {node.silent_reason}
        </>
      );
  }
}
