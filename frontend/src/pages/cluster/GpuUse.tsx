/** Who holds a GPU, and what they make of it: the columns that tables of GPUs share. */

import { Link } from "react-router";

import { TeamMark } from "../../design/TeamMark";
import { memoryText, type MapGpu } from "../../domain/clusterMap";
import { formatPercent } from "../../domain/format";
import styles from "./ClusterPage.module.css";

export function UseHeadings() {
  return (
    <>
      <th scope="col" className={styles.who}>
        Who
      </th>
      <th scope="col">Busy</th>
      <th scope="col">Memory</th>
    </>
  );
}

export function UseCells({ gpu }: { readonly gpu: MapGpu }) {
  return (
    <>
      <td className={styles.who}>
        <Holder gpu={gpu} />
      </td>
      <td>{formatPercent(gpu.use?.utilisation)}</td>
      <td>{memoryText(gpu.use)}</td>
    </>
  );
}

function Holder({ gpu: { claim, use } }: { readonly gpu: MapGpu }) {
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
