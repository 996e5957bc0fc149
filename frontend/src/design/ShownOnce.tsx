/** A key that is shown this once: to be copied before the dialog is closed. */

import type { ReactNode } from "react";

import { Button } from "./Button";
import { Command } from "./Command";
import { Dialog } from "./Dialog";
import styles from "./Rows.module.css";

interface ShownOnceProps {
  readonly title: string;
  readonly secret: string;
  readonly onClose: () => void;
  /** What it is for. */
  readonly children: ReactNode;
}

export function ShownOnce({ title, secret, onClose, children }: ShownOnceProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className={styles.key}>
        <p>Copy it now: it is shown this once, and nobody can read it again.</p>
        <Command text={secret} />
        <p>{children}</p>
        <div className={styles.buttons}>
          <Button look="primary" onClick={onClose}>
            I have it
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
