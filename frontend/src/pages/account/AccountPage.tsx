/** Which keys does whoever is signed in have, to do without their password? */

import { useState } from "react";

import { useMakePersonalToken, usePersonalTokens, useRevokePersonalToken } from "../../api/account";
import { useSeesAll, useSession } from "../../api/session";
import type { MadeToken, PersonalToken } from "../../api/types";
import { Button } from "../../design/Button";
import { Card } from "../../design/Card";
import { Command } from "../../design/Command";
import { EmptyState } from "../../design/EmptyState";
import { FormDialog } from "../../design/FormDialog";
import frame from "../../design/Page.module.css";
import { Problem } from "../../design/Problem";
import { SkeletonRows } from "../../design/Skeleton";
import { lifetimes, ownScopes, ownWishOf } from "../../domain/tokens";
import rows from "../../design/Rows.module.css";
import { BoundsFields, Expiry, ScopeBoxes, ShownKey, TokenName } from "../team/people/TokenForms";
import { RevokeToken, TokenLists } from "../team/people/TokenLists";

type Made = Pick<MadeToken, "name" | "key">;

export default function AccountPage() {
  const tokens = usePersonalTokens();
  const name = useSession().data?.user.username ?? "";
  const isAdmin = useSeesAll();
  const [isAsking, setIsAsking] = useState(false);
  const [made, setMade] = useState<Made | null>(null);
  const items = tokens.data?.items;
  return (
    <div className={frame.page}>
      <title>Your account · Concertina</title>
      <header className={frame.heading}>
        <h1>Your account</h1>
        <p>{name}</p>
      </header>
      <Card
        title="Your tokens"
        note="keys by which your programs do what you may"
        isFlush
        actions={
          <Button
            look="primary"
            disabled={items === undefined}
            onClick={() => {
              setIsAsking(true);
            }}
          >
            New token
          </Button>
        }
      >
        {tokens.isPending && <SkeletonRows rows={2} height={56} />}
        {tokens.isLoadingError && (
          <Problem error={tokens.error} onRetry={() => void tokens.refetch()} />
        )}
        {items?.every(({ state }) => state !== "valid") === true && (
          <EmptyState title="No token is valid">
            <p>The command line makes one when you log in with it:</p>
            <Command text={`concertina login ${window.location.origin}`} />
          </EmptyState>
        )}
        <TokenLists items={items ?? []} verbs={(token) => <Revocation token={token} />} />
      </Card>
      {isAsking && (
        <MakeToken
          isAdmin={isAdmin}
          lasting={lifetimes(tokens.data?.longest_days ?? 0, isAdmin)}
          onMade={(token) => {
            setIsAsking(false);
            setMade(token);
          }}
          onClose={() => {
            setIsAsking(false);
          }}
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
    </div>
  );
}

interface MakeTokenProps {
  readonly isAdmin: boolean;
  readonly lasting: ReturnType<typeof lifetimes>;
  readonly onMade: (token: Made) => void;
  readonly onClose: () => void;
}

function MakeToken({ isAdmin, lasting, onMade, onClose }: MakeTokenProps) {
  const call = useMakePersonalToken();
  const [chosen, setChosen] = useState<readonly string[]>(["read", "submit", "manage-jobs"]);
  return (
    <FormDialog
      title="New token of yours"
      verb="Make token"
      call={call}
      onSubmit={(form) => {
        call.mutate(ownWishOf(form), { onSuccess: onMade });
      }}
      onClose={onClose}
    >
      <TokenName note="Where it is used. Its jobs are yours." example="laptop" />
      <fieldset className={rows.choices}>
        <legend>Of what you may, it may</legend>
        <ScopeBoxes scopes={ownScopes(isAdmin)} chosen={chosen} onChoose={setChosen} />
      </fieldset>
      <BoundsFields />
      <Expiry lasting={lasting} />
    </FormDialog>
  );
}

function Revocation({ token }: { readonly token: PersonalToken }) {
  return <RevokeToken token={token} call={useRevokePersonalToken(token.id)} />;
}
