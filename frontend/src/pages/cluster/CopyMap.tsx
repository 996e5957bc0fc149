/** The map as a table for other programs. */

import { useState } from "react";

import { Button } from "../../design/Button";
import { mapAsCsv, type MapNode } from "../../domain/clusterMap";
import styles from "./ClusterPage.module.css";

export function CopyMap({ nodes }: { readonly nodes: readonly MapNode[] }) {
  const [told, setTold] = useState("");
  const copy = async () => {
    await navigator.clipboard.writeText(mapAsCsv(nodes)); // over plain HTTP there is none
    setTold("Copied");
  };
  return (
    <>
      <span role="status" className={styles.told}>
        {told}
      </span>
      <Button
        onClick={() => {
          copy().catch(() => {
            setTold("Could not be copied");
          });
        }}
      >
        Copy as CSV
      </Button>
    </>
  );
}
