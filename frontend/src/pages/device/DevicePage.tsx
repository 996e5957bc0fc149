/** A command line waits: whoever is signed in sees what it asks for, and lets it in or does not. */

import { type SyntheticEvent, useState } from "react";

import { useConfirm, useLookUp, useRefuse } from "../../api/deviceLogins";
import { messageOf } from "../../api/errors";
import { useSession } from "../../api/session";
import type { DeviceLogin } from "../../api/types";
import { Button } from "../../design/Button";
import { Card } from "../../design/Card";
import { FormField } from "../../design/FormDialog";
import frame from "../../design/Page.module.css";
import { RelativeTime } from "../../design/Time";
import { plural } from "../../domain/format";
import { ownScopes } from "../../domain/tokens";
import styles from "./DevicePage.module.css";

type Answer = "confirmed" | "refused";

interface Asked {
  readonly code: string;
  readonly login: DeviceLogin;
}

export default function DevicePage() {
  const [asked, setAsked] = useState<Asked | null>(null);
  const [answer, setAnswer] = useState<Answer | null>(null);
  return (
    <div className={frame.page}>
      <title>Let a command line in · Concertina</title>
      <header className={frame.heading}>
        <h1>Let a command line in</h1>
      </header>
      {answer !== null ? (
        <Done answer={answer} />
      ) : asked !== null ? (
        <Request {...asked} onAnswer={setAnswer} />
      ) : (
        <AskForCode onFound={setAsked} />
      )}
    </div>
  );
}

function AskForCode({ onFound }: { readonly onFound: (asked: Asked) => void }) {
  const call = useLookUp();
  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget).get("code");
    const code = typeof typed === "string" ? typed.trim() : "";
    call.mutate(code, {
      onSuccess: (login) => {
        onFound({ code, login });
      },
    });
  };
  return (
    <Card title="Which one?">
      <form className={styles.form} onSubmit={submit} autoComplete="off">
        <FormField
          label="Code"
          note="As concertina login shows it to you. Type no code that somebody has sent you."
        >
          <input
            name="code"
            className={styles.code}
            required
            maxLength={9}
            placeholder="BCDF-GHJK"
            autoCapitalize="characters"
            spellCheck={false}
          />
        </FormField>
        {call.error !== null && <Refusal error={call.error} />}
        <div className={styles.buttons}>
          <Button type="submit" look="primary" disabled={call.isPending}>
            Continue
          </Button>
        </div>
      </form>
    </Card>
  );
}

function Request({
  code,
  login,
  onAnswer,
}: Asked & { readonly onAnswer: (answer: Answer) => void }) {
  const confirm = useConfirm(code);
  const refuse = useRefuse(code);
  const name = useSession().data?.user.username ?? "";
  const error = confirm.error ?? refuse.error;
  const isPending = confirm.isPending || refuse.isPending;
  return (
    <Card title={`May ${login.name} act as ${name}?`}>
      <div className={styles.form}>
        <dl className={styles.facts}>
          <dt>Asked by</dt>
          <dd>
            {login.name}, from {login.address}, <RelativeTime at={login.asked_at} />
          </dd>
          <dt>Of what you may, it may</dt>
          <dd>
            <ul aria-label="What it may do">
              {ownScopes(true)
                .filter(({ scope }) => login.scopes.includes(scope))
                .map(({ scope, meaning }) => (
                  <li key={scope}>
                    <strong>{scope}</strong> {meaning}
                  </li>
                ))}
            </ul>
          </dd>
          <dt>For</dt>
          <dd>{login.days === null ? "ever, until it is revoked" : plural(login.days, "day")}</dd>
        </dl>
        {!login.is_your_address && (
          <p className={styles.warning}>
            It does not ask from where you are. That is so where it runs on another machine than
            your browser.
          </p>
        )}
        {login.replaces && <p>Your former token {login.name} ends.</p>}
        <p>Let it in only if you have just run concertina login there yourself.</p>
        {error !== null && <Refusal error={error} />}
        <div className={styles.buttons}>
          <Button
            look="primary"
            disabled={isPending}
            onClick={() => {
              confirm.mutate(undefined, {
                onSuccess: () => {
                  onAnswer("confirmed");
                },
              });
            }}
          >
            Let it in
          </Button>
          <Button
            disabled={isPending}
            onClick={() => {
              refuse.mutate(undefined, {
                onSuccess: () => {
                  onAnswer("refused");
                },
              });
            }}
          >
            Refuse
          </Button>
        </div>
      </div>
    </Card>
  );
}

function Refusal({ error }: { readonly error: Error }) {
  return (
    <p role="alert" className={styles.problem}>
      {messageOf(error)}
    </p>
  );
}

function Done({ answer }: { readonly answer: Answer }) {
  return (
    <Card title={answer === "confirmed" ? "It is let in" : "It is refused"}>
      <p role="status">
        {answer === "confirmed"
          ? "Go back to it. Its token is among those of your account, where you can revoke it."
          : "Nothing was granted."}
      </p>
    </Card>
  );
}
