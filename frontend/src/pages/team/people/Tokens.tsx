/** The keys of a team's programs: what each may do, until when, and whether it is still used. */

import { useState, type ReactNode } from "react";

import { useRevokeToken, useTokens } from "../../../api/teams";
import type { MadeToken, Token } from "../../../api/types";
import { Button } from "../../../design/Button";
import { Card } from "../../../design/Card";
import { EmptyState } from "../../../design/EmptyState";
import { Problem } from "../../../design/Problem";
import { Question } from "../../../design/Question";
import { SkeletonRows } from "../../../design/Skeleton";
import { RelativeTime } from "../../../design/Time";
import { useNow } from "../../../design/now";
import { plural } from "../../../domain/format";
import { endsSoon, lifetimes, usedFrom } from "../../../domain/tokens";
import styles from "./People.module.css";
import { MakeToken, RotateToken, ShownKey } from "./TokenForms";

interface TokensProps {
  readonly team: string;
  readonly mayManage: boolean;
  readonly isAdmin: boolean;
  readonly whomToAsk: string;
}

type Asked = { readonly what: "make" } | { readonly what: "rotate"; readonly token: Token } | null;

export function Tokens({ team, mayManage, isAdmin, whomToAsk }: TokensProps) {
  const tokens = useTokens(team, mayManage);
  const [asked, setAsked] = useState<Asked>(null);
  const [made, setMade] = useState<MadeToken | null>(null);
  const close = () => {
    setAsked(null);
  };
  const show = (token: MadeToken) => {
    setAsked(null);
    setMade(token);
  };
  const items = tokens.data?.items ?? [];
  const valid = items.filter(({ state }) => state === "valid");
  const ended = items.filter(({ state }) => state !== "valid");
  const lasting = lifetimes(tokens.data?.longest_days ?? 0, isAdmin);
  return (
    <Card
      title="Tokens"
      note="keys for programs, such as pipelines"
      isFlush
      actions={
        mayManage && (
          <Button
            look="primary"
            disabled={tokens.data === undefined}
            onClick={() => {
              setAsked({ what: "make" });
            }}
          >
            New token
          </Button>
        )
      }
    >
      {!mayManage && (
        <EmptyState title="Only leads see and make tokens">
          <p>{whomToAsk}</p>
        </EmptyState>
      )}
      {mayManage && tokens.isPending && <SkeletonRows rows={2} height={56} />}
      {tokens.isLoadingError && (
        <Problem error={tokens.error} onRetry={() => void tokens.refetch()} />
      )}
      {tokens.data !== undefined && valid.length === 0 && (
        <EmptyState title="No token is valid">
          <p>A pipeline that submits jobs needs a key. Make one that may do only that.</p>
        </EmptyState>
      )}
      <ul className={styles.list} aria-label="Tokens">
        {valid.map((token) => (
          <Row key={token.id} token={token}>
            <Button
              aria-label={`Rotate ${token.name}, ${token.prefix}`}
              onClick={() => {
                setAsked({ what: "rotate", token });
              }}
            >
              Rotate
            </Button>
            <Revocation team={team} token={token} />
          </Row>
        ))}
      </ul>
      {ended.length > 0 && (
        <details className={styles.ended}>
          <summary>{`${plural(ended.length, "token")} that ended`}</summary>
          <ul className={styles.list} aria-label="Tokens that ended">
            {ended.map((token) => (
              <Row key={token.id} token={token} />
            ))}
          </ul>
        </details>
      )}
      {asked?.what === "make" && (
        <MakeToken team={team} lasting={lasting} onMade={show} onClose={close} />
      )}
      {asked?.what === "rotate" && (
        <RotateToken
          team={team}
          token={asked.token}
          lasting={lasting}
          onMade={show}
          onClose={close}
        />
      )}
      {made !== null && (
        <ShownKey
          token={made}
          onClose={() => {
            setMade(null);
          }}
        />
      )}
    </Card>
  );
}

interface RowProps {
  readonly token: Token;
  readonly children?: ReactNode;
}

function Row({ token, children }: RowProps) {
  return (
    <li className={styles.row} aria-label={`Token ${token.name}, ${token.prefix}`}>
      <div className={styles.about}>
        <p className={styles.head}>
          <strong>{token.name}</strong>
          <code>{`${token.prefix}…`}</code>
          {token.scopes?.map((scope) => (
            <span key={scope} className={styles.scope}>
              {scope}
            </span>
          )) ?? <span className={styles.scope}>all that tokens may</span>}
        </p>
        <p className={styles.note}>
          <Ending token={token} />
          {" · "}
          {token.last_used_at === null ? (
            "never used"
          ) : (
            <>
              used <RelativeTime at={token.last_used_at} />
              {usedFrom(token)}
            </>
          )}
          {" · made "}
          <RelativeTime at={token.created_at} />
          {token.created_by !== "" && ` by ${token.created_by}`}
        </p>
      </div>
      {children !== undefined && <div className={styles.verbs}>{children}</div>}
    </li>
  );
}

function Ending({ token }: { readonly token: Token }) {
  const now = useNow();
  if (token.revoked_at !== null) {
    return (
      <>
        revoked <RelativeTime at={token.revoked_at} />
      </>
    );
  }
  if (token.expires_at === null) return <>never expires</>;
  return (
    <span className={endsSoon(token, now) ? styles.soon : undefined}>
      {token.state === "expired" ? "expired " : "expires "}
      <RelativeTime at={token.expires_at} />
    </span>
  );
}

function Revocation({ team, token }: { readonly team: string; readonly token: Token }) {
  const call = useRevokeToken(team, token.id);
  return (
    <Question
      button="Revoke"
      label={`Revoke ${token.name}, ${token.prefix}`}
      title={`Revoke ${token.name} for good?`}
      consequence={`Programs with the key ${token.prefix}… are refused from the next request on, and what they follow ends within seconds. Jobs that came with it go on.`}
      isDanger
      call={call}
      onConfirm={(close) => {
        call.mutate(undefined, { onSuccess: close });
      }}
    />
  );
}
