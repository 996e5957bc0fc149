/** A form in a dialog: what is asked, what went wrong, and the two ways out. */

import type { ReactNode, SyntheticEvent } from "react";

import { messageOf } from "../api/errors";
import { Button } from "./Button";
import { Dialog } from "./Dialog";
import styles from "./FormDialog.module.css";

interface FormDialogProps {
  readonly title: string;
  readonly verb: string;
  readonly call: { readonly error: Error | null; readonly isPending: boolean };
  readonly onSubmit: (form: FormData) => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function FormDialog({ title, verb, call, onSubmit, onClose, children }: FormDialogProps) {
  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    onSubmit(new FormData(event.currentTarget));
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form className={styles.form} onSubmit={submit} autoComplete="off">
        {children}
        {call.error !== null && (
          <p role="alert" className={styles.problem}>
            {messageOf(call.error)}
          </p>
        )}
        <div className={styles.buttons}>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={call.isPending}>
            {verb}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface FormFieldProps {
  readonly label: string;
  readonly note?: string;
  readonly children: ReactNode;
}

/** A field with its label above, and below what to know of it. */
export function FormField({ label, note, children }: FormFieldProps) {
  return (
    <label className={styles.field}>
      {label}
      {children}
      {note !== undefined && <small>{note}</small>}
    </label>
  );
}
