/** A button that copies a table, so that other programs can read it. */

import { useState } from "react";

import { Button } from "./Button";
import styles from "./CopyAsCsv.module.css";

interface CopyAsCsvProps {
  /** What is copied, if it is not all that there is to copy on the page. */
  readonly what?: string;
  readonly csv: () => string;
}

export function CopyAsCsv({ what, csv }: CopyAsCsvProps) {
  const [told, setTold] = useState("");
  const copy = async () => {
    await navigator.clipboard.writeText(csv()); // over plain HTTP there is none
    setTold("Copied");
  };
  return (
    <span className={styles.copy}>
      <span role="status" className={styles.told}>
        {told}
      </span>
      <Button
        aria-label={what === undefined ? undefined : `Copy as CSV: ${what}`}
        onClick={() => {
          copy().catch(() => {
            setTold("Could not be copied");
          });
        }}
      >
        Copy as CSV
      </Button>
    </span>
  );
}
