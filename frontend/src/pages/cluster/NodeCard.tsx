/** What is on one node, GPU by GPU, and what may an admin do with it? */

import { useEffect, useRef } from "react";
import { Link } from "react-router";

import { useSeesAll } from "../../api/session";
import { Button } from "../../design/Button";
import { Card } from "../../design/Card";
import { TeamMark } from "../../design/TeamMark";
import { RelativeTime } from "../../design/Time";
import { memoryText, type MapGpu, type MapNode } from "../../domain/clusterMap";
import { formatPercent } from "../../domain/format";
import { offered } from "../../domain/maintenance";
import outputs from "../job/results/Outputs.module.css";
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
                <th scope="col" className={styles.who}>
                  Who
                </th>
                <th scope="col">Busy</th>
                <th scope="col">Memory</th>
              </tr>
            </thead>
            <tbody>
              {node.gpus.map((gpu) => (
                <tr key={gpu.index}>
                  <th scope="row">{gpu.index}</th>
                  <td className={styles.who}>
                    <Holder gpu={gpu} />
                  </td>
                  <td>{formatPercent(gpu.use?.utilisation)}</td>
                  <td>{memoryText(gpu.use)}</td>
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

export function Holder({ gpu: { claim, use } }: { readonly gpu: MapGpu }) {
  if (claim === null) return <span className={styles.free}>free</span>;
  return (
    <>
      <TeamMark team={claim.team} />
      {claim.job_id !== null && (
        <>
          {" "}
          <Link to={`/jobs/${claim.job_id}`}>{claim.job_name}</Link>
        </>
      )}
      {use?.is_slow === true && <span className={styles.slow}>slow</span>}
    </>
  );
}
