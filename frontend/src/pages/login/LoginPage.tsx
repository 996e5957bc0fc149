/** Signing in. */

import { useEffect, useId, useRef, type SyntheticEvent } from "react";
import { Navigate, useLocation } from "react-router";

import { messageOf } from "../../api/errors";
import { useSession, useSignIn, useSignInMethods } from "../../api/session";
import { Logo } from "../../app/Logo";
import { Button } from "../../design/Button";
import { localPath, problemOf, wayTo } from "../../domain/signIn";
import styles from "./LoginPage.module.css";

export function LoginPage() {
  const session = useSession();
  const signIn = useSignIn();
  const { provider, proxy } = useSignInMethods().data ?? {};
  const { state, search } = useLocation() as { state: unknown; search: string };
  const told = new URLSearchParams(search);
  const problem = useId();
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => {
    first.current?.focus(); // there is nothing else to do here
  }, []);
  const wanted = wantedPage(state) ?? localPath(told.get("next"));
  if (session.data) return <Navigate to={wanted} replace />;

  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    signIn.mutate({ username: field(form, "username"), password: field(form, "password") });
  };
  return (
    <main className={styles.page}>
      <title>Sign in · Concertina</title>
      <form className={styles.form} onSubmit={submit} aria-describedby={problem}>
        <div className={styles.brand}>
          <Logo />
          <span>Concertina</span>
        </div>
        <h1>Sign in</h1>
        <p className={styles.lead}>Shared GPUs for elastic training.</p>
        <label className={styles.field}>
          User name
          <input
            ref={first}
            name="username"
            autoComplete="username"
            autoCapitalize="none"
            required
          />
        </label>
        <label className={styles.field}>
          Password
          <input name="password" type="password" autoComplete="current-password" required />
        </label>
        <p id={problem} className={styles.problem} role="alert">
          {signIn.isError
            ? messageOf(signIn.error)
            : signIn.isIdle && problemOf(told.get("problem"), provider?.name)}
        </p>
        <Button type="submit" look="primary" disabled={signIn.isPending}>
          {signIn.isPending ? "Signing in…" : "Sign in"}
        </Button>
        {proxy && (
          <a className={styles.provider} href={wayTo(proxy.address, wanted)}>
            Continue as {proxy.name}
          </a>
        )}
        {provider && (
          <a className={styles.provider} href={wayTo(provider.address, wanted)}>
            Sign in with {provider.name}
          </a>
        )}
        <p className={styles.help}>
          No account? An administrator makes one, or a lead invites you. On a local run,{" "}
          <code>./dev status</code> prints the login.
        </p>
      </form>
    </main>
  );
}

function field(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value : "";
}

/** Where the visitor was going, when `SignedIn` sent them here. */
function wantedPage(state: unknown): string | undefined {
  const isFromInside =
    typeof state === "object" &&
    state !== null &&
    "from" in state &&
    typeof state.from === "string";
  return isFromInside ? (state.from as string) : undefined;
}
