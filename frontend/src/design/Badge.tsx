/** A job's state as a word with a coloured mark; the word carries the meaning, not the colour. */

import { isLively, toneOf, type State } from "../domain/states";
import styles from "./Badge.module.css";

export function StateBadge({ state }: { readonly state: State }) {
  return (
    <span className={styles.badge} data-tone={toneOf(state)} data-lively={isLively(state)}>
      <span className={styles.mark} aria-hidden="true" />
      {state}
    </span>
  );
}
