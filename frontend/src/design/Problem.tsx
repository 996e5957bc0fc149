/** Something could not be loaded: what, why, and a way to try again. */

import { messageOf } from "../api/errors";
import { Button } from "./Button";
import styles from "./Problem.module.css";

interface ProblemProps {
  readonly error: unknown;
  readonly onRetry: () => void;
}

export function Problem({ error, onRetry }: ProblemProps) {
  return (
    <div className={styles.problem} role="alert">
      <p>{messageOf(error)}</p>
      <Button onClick={onRetry}>Try again</Button>
    </div>
  );
}
