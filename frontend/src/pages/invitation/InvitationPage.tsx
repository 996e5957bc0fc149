/** Somebody comes with the link of an invitation: they join with their account, or make one. */

import { type SyntheticEvent, useState } from "react";
import { Link, useLocation } from "react-router";

import { messageOf } from "../../api/errors";
import { useAccept, useJoin, useOpenInvitation } from "../../api/invitations";
import { useSession } from "../../api/session";
import type { OpenInvitation } from "../../api/types";
import { Logo } from "../../app/Logo";
import { Button } from "../../design/Button";
import { RelativeTime } from "../../design/Time";
import { forget, keyIn } from "../../domain/invitations";
import { text } from "../../domain/secrets";
import styles from "../login/LoginPage.module.css";

export default function InvitationPage() {
  const { hash } = useLocation();
  const key = keyIn(hash, window.sessionStorage);
  const found = useOpenInvitation(key);
  const session = useSession();
  const [joined, setJoined] = useState<string | null>(null);
  const done = (team: string) => {
    forget(window.sessionStorage);
    setJoined(team);
  };
  return (
    <main className={styles.page}>
      <title>Invitation · Concertina</title>
      <div className={styles.form}>
        <div className={styles.brand}>
          <Logo />
          <span>Concertina</span>
        </div>
        {joined !== null ? (
          <Welcome team={joined} />
        ) : found.data ? (
          <>
            <h1>Join {found.data.team}</h1>
            <p className={styles.lead}>
              {found.data.invited_by} invites you as {found.data.role}. The invitation ends{" "}
              <RelativeTime at={found.data.expires_at} />.
            </p>
            {session.data ? (
              <Accept name={session.data.user.username} linkKey={key} onDone={done} />
            ) : (
              session.data === null && <Come invitation={found.data} linkKey={key} onDone={done} />
            )}
          </>
        ) : (
          <>
            <h1>Invitation</h1>
            <p role="alert">
              {key === ""
                ? "This address is not whole. Open the link as you got it."
                : found.error
                  ? messageOf(found.error)
                  : ""}
            </p>
          </>
        )}
      </div>
    </main>
  );
}

function Welcome({ team }: { readonly team: string }) {
  return (
    <>
      <h1>You are in {team}</h1>
      <Link className={styles.provider} to={`/teams/${team}`}>
        See the team
      </Link>
    </>
  );
}

interface ComingProps {
  readonly linkKey: string;
  readonly onDone: (team: string) => void;
}

function Accept({ name, linkKey, onDone }: ComingProps & { readonly name: string }) {
  const call = useAccept(linkKey);
  return (
    <>
      <p className={styles.problem} role="alert">
        {call.isError && messageOf(call.error)}
      </p>
      <Button
        look="primary"
        disabled={call.isPending}
        onClick={() => {
          call.mutate(undefined, {
            onSuccess: ({ team }) => {
              onDone(team);
            },
          });
        }}
      >
        Join as {name}
      </Button>
    </>
  );
}

function Come({
  invitation,
  linkKey,
  onDone,
}: ComingProps & { readonly invitation: OpenInvitation }) {
  const call = useJoin(linkKey);
  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    call.mutate(
      { username: text(form, "username").trim(), password: text(form, "password") },
      {
        onSuccess: ({ team }) => {
          onDone(team);
        },
      },
    );
  };
  return (
    <>
      <Link className={styles.provider} to="/login" state={{ from: "/invitation" }}>
        I have an account
      </Link>
      {invitation.makes_accounts && (
        <form className={styles.fields} onSubmit={submit} aria-label="New account">
          <label className={styles.field}>
            User name
            <input name="username" autoComplete="username" autoCapitalize="none" required />
          </label>
          <label className={styles.field}>
            New password
            <input name="password" type="password" autoComplete="new-password" required />
          </label>
          <p className={styles.problem} role="alert">
            {call.isError && messageOf(call.error)}
          </p>
          <Button type="submit" look="primary" disabled={call.isPending}>
            Make an account and join
          </Button>
        </form>
      )}
    </>
  );
}
