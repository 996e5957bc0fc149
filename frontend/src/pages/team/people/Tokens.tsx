/** The keys of a team's programs: what each may do, until when, and whether it is still used. */

import { useState } from "react";

import { useRevokeToken, useTokens } from "../../../api/teams";
import type { MadeToken, Token } from "../../../api/types";
import { Button } from "../../../design/Button";
import { Card } from "../../../design/Card";
import { EmptyState } from "../../../design/EmptyState";
import { Problem } from "../../../design/Problem";
import { SkeletonRows } from "../../../design/Skeleton";
import { lifetimes } from "../../../domain/tokens";
import { MakeToken, RotateToken, ShownKey } from "./TokenForms";
import { RevokeToken, TokenLists } from "./TokenLists";

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
      {tokens.data?.items.every(({ state }) => state !== "valid") === true && (
        <EmptyState title="No token is valid">
          <p>A pipeline that submits jobs needs a key. Make one that may do only that.</p>
        </EmptyState>
      )}
      <TokenLists
        items={items}
        verbs={(token) => (
          <>
            <Button
              aria-label={`Rotate ${token.name}, ${token.prefix}`}
              onClick={() => {
                setAsked({ what: "rotate", token });
              }}
            >
              Rotate
            </Button>
            <Revocation team={team} token={token} />
          </>
        )}
      />
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

function Revocation({ team, token }: { readonly team: string; readonly token: Token }) {
  return <RevokeToken token={token} call={useRevokeToken(team, token.id)} />;
}
