/** A new password: the old one, and the new one twice. */

import { useRef, useState, type SyntheticEvent } from "react";

import { messageOf } from "../../api/errors";
import { useChangePassword } from "../../api/settings";
import { Button } from "../../design/Button";
import { FormField } from "../../design/FormDialog";
import { problemOf } from "../../domain/settings";
import styles from "./SettingsPage.module.css";

export function PasswordForm({ username }: { readonly username: string }) {
  const call = useChangePassword();
  const form = useRef<HTMLFormElement>(null);
  const [problem, setProblem] = useState("");
  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const told = new FormData(event.currentTarget);
    const text = (name: string) => {
      const value = told.get(name);
      return typeof value === "string" ? value : "";
    };
    const found = problemOf(text("next"), text("again"));
    setProblem(found);
    if (found !== "") return;
    call.mutate(
      { password: text("password"), new_password: text("next") },
      {
        onSuccess: () => {
          form.current?.reset();
        },
      },
    );
  };
  const wrong = problem || (call.error === null ? "" : messageOf(call.error));
  return (
    <form ref={form} className={styles.form} onSubmit={submit} aria-label="Change your password">
      <input type="hidden" autoComplete="username" value={username} readOnly />
      <FormField label="Your password">
        <input name="password" type="password" autoComplete="current-password" required />
      </FormField>
      <FormField label="New password" note="8 characters or more, and none that many people have">
        <input name="next" type="password" autoComplete="new-password" minLength={8} required />
      </FormField>
      <FormField label="New password again">
        <input name="again" type="password" autoComplete="new-password" required />
      </FormField>
      {wrong !== "" && (
        <p role="alert" className={styles.problem}>
          {wrong}
        </p>
      )}
      {call.isSuccess && wrong === "" && <p role="status">Your password is changed.</p>}
      <div>
        <Button type="submit" look="primary" disabled={call.isPending}>
          Change password
        </Button>
      </div>
    </form>
  );
}
