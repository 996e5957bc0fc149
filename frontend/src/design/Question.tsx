/** Something that is done once a person has said so again, knowing what comes of it. */

import { useState, type ReactNode, type SyntheticEvent } from "react";

import { messageOf } from "../api/errors";
import { Button } from "./Button";
import { Dialog } from "./Dialog";
import styles from "./Question.module.css";

interface QuestionProps {
  readonly button: string;
  /** What the button is about, where many have the same word; without it, the word says all. */
  readonly label?: string;
  readonly title: string;
  readonly consequence: string;
  readonly isDanger: boolean;
  readonly call: {
    readonly error: Error | null;
    readonly isPending: boolean;
    readonly reset: () => void;
  };
  /** Do it, and close the question by the function that is given. */
  readonly onConfirm: (close: () => void) => void;
  /** What else is asked. */
  readonly children?: ReactNode;
}

export function Question({ isDanger, ...asked }: QuestionProps) {
  const [isOpen, setIsOpen] = useState(false);
  const close = () => {
    setIsOpen(false);
    asked.call.reset();
  };
  const confirm = (event: SyntheticEvent) => {
    event.preventDefault();
    asked.onConfirm(close);
  };
  return (
    <>
      <Button
        look={isDanger ? "danger" : "plain"}
        aria-label={asked.label}
        onClick={() => {
          setIsOpen(true);
        }}
      >
        {asked.button}
      </Button>
      {isOpen && (
        <Dialog title={asked.title} onClose={close}>
          <form className={styles.form} onSubmit={confirm}>
            <p>{asked.consequence}</p>
            {asked.children}
            {asked.call.error !== null && (
              <p role="alert" className={styles.problem}>
                {messageOf(asked.call.error)}
              </p>
            )}
            <div className={styles.buttons}>
              <Button onClick={close}>Keep as it is</Button>
              <Button
                type="submit"
                look={isDanger ? "danger" : "primary"}
                disabled={asked.call.isPending}
              >
                {asked.button}
              </Button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  );
}
