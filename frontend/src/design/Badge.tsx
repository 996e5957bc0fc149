/** A job's state as a word with a coloured mark; the word carries the meaning, not the colour. */

import { isLively, toneOf, type State, type Tone } from "../domain/states";
import styles from "./Badge.module.css";

export function StateBadge({ state }: { readonly state: State }) {
  return (
    <span className={styles.badge} data-tone={toneOf(state)} data-lively={isLively(state)}>
      <span className={styles.mark} aria-hidden="true" />
      {state}
    </span>
  );
}

/** The same of anything else that is well or not. */
export function ToneBadge({ tone, text }: { readonly tone: Tone; readonly text: string }) {
  return (
    <span className={styles.badge} data-tone={tone}>
      <span className={styles.mark} aria-hidden="true" />
      {text}
    </span>
  );
}
