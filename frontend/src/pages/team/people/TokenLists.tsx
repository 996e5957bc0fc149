/** Tokens as rows: what each may do, until when, and whether it is still used; those that ended apart. */

import type { ComponentProps, ReactNode } from "react";

import { Question } from "../../../design/Question";
import { RelativeTime } from "../../../design/Time";
import { useNow } from "../../../design/now";
import { plural } from "../../../domain/format";
import { boundsOf, endsSoon, type ListedToken, usedFrom } from "../../../domain/tokens";
import styles from "../../../design/Rows.module.css";

interface TokenListsProps<Kind extends ListedToken> {
  readonly items: readonly Kind[];
  readonly verbs: (token: Kind) => ReactNode;
}

export function TokenLists<Kind extends ListedToken>({ items, verbs }: TokenListsProps<Kind>) {
  const ended = items.filter(({ state }) => state !== "valid");
  return (
    <>
      <ul className={styles.list} aria-label="Tokens">
        {items
          .filter(({ state }) => state === "valid")
          .map((token) => (
            <Row key={token.id} token={token}>
              {verbs(token)}
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
    </>
  );
}

interface RevokeTokenProps {
  readonly token: ListedToken;
  readonly call: ComponentProps<typeof Question>["call"] & {
    readonly mutate: (wish: undefined, more: { readonly onSuccess: () => void }) => void;
  };
}

export function RevokeToken({ token, call }: RevokeTokenProps) {
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

interface RowProps {
  readonly token: ListedToken;
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
          {boundsOf(token).map((words) => (
            <span key={words} className={styles.scope}>
              {`only ${words}`}
            </span>
          ))}
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
          {token.created_by !== undefined && token.created_by !== "" && ` by ${token.created_by}`}
        </p>
      </div>
      {children !== undefined && <div className={styles.verbs}>{children}</div>}
    </li>
  );
}

function Ending({ token }: { readonly token: ListedToken }) {
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
