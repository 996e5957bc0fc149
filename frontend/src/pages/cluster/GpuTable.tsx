/** The same as the map, in words: a row for each GPU. */

import { useState } from "react";

import { Button } from "../../design/Button";
import { conditionText, type MapNode } from "../../domain/clusterMap";
import outputs from "../job/results/Outputs.module.css";
import { UseCells, UseHeadings } from "./GpuUse";
import styles from "./ClusterPage.module.css";

interface GpuTableProps {
  readonly nodes: readonly MapNode[];
  readonly onChoose: (node: string) => void;
}

const ROWS = 200; // that are drawn at once, so that a page of very many stays quick

export function GpuTable({ nodes, onChoose }: GpuTableProps) {
  const [most, setMost] = useState(ROWS);
  const rows = nodes.flatMap((node) => node.gpus.map((gpu) => ({ node, gpu })));
  return (
    <>
      <div className={styles.wide} role="region" aria-label="Table of GPUs" tabIndex={0}>
        <table className={outputs.entries}>
          <caption className="visually-hidden">Who holds which GPU</caption>
          <thead>
            <tr>
              <th scope="col">Node</th>
              <th scope="col" className={styles.who}>
                State
              </th>
              <th scope="col">GPU</th>
              <UseHeadings />
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, most).map(({ node, gpu }) => (
              <tr key={`${node.name} ${gpu.index}`}>
                <th scope="row">
                  <button
                    type="button"
                    className={outputs.open}
                    onClick={() => {
                      onChoose(node.name);
                    }}
                  >
                    {node.name}
                  </button>
                </th>
                <td className={styles.who}>{conditionText(node.condition)}</td>
                <td>{gpu.index}</td>
                <UseCells gpu={gpu} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > most && (
        <div className={outputs.more}>
          <Button
            onClick={() => {
              setMost(most + ROWS);
            }}
          >
            {`Show more of ${rows.length.toLocaleString("en")} GPUs`}
          </Button>
        </div>
      )}
    </>
  );
}
