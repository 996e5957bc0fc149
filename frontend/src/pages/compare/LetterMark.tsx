/** How a job is marked wherever it is compared: its letter, over a line like its curve. */

import { isDashed, letterOf, slotOf } from "../../domain/comparison";
import styles from "./ComparePage.module.css";

export function LetterMark({ place }: { readonly place: number }) {
  return (
    <span
      className={styles.letter}
      data-dashed={isDashed(place)}
      style={{ "--line": `var(--team-${slotOf(place)})` }}
    >
      {letterOf(place)}
    </span>
  );
}
