/** Making a token, or another in its place. The key is shown once, and kept nowhere here. */

import { useState } from "react";

import { useMakeToken, useRotateToken } from "../../../api/teams";
import type { MadeToken, Token } from "../../../api/types";
import { FormDialog, FormField } from "../../../design/FormDialog";
import { ShownOnce } from "../../../design/ShownOnce";
import {
  type lifetimes,
  OVERLAPS,
  rotationOf,
  SCOPES,
  type ScopeWords,
  USUAL_OVERLAP_HOURS,
  wishOf,
} from "../../../domain/tokens";
import styles from "../../../design/Rows.module.css";

interface AskedFor {
  readonly team: string;
  readonly lasting: ReturnType<typeof lifetimes>;
  readonly onMade: (token: MadeToken) => void;
  readonly onClose: () => void;
}

export function MakeToken({ team, lasting, onMade, onClose }: AskedFor) {
  const call = useMakeToken(team);
  return (
    <FormDialog
      title={`New token of ${team}`}
      verb="Make token"
      call={call}
      onSubmit={(form) => {
        call.mutate(wishOf(form), { onSuccess: onMade });
      }}
      onClose={onClose}
    >
      <TokenName note={`Its jobs are submitted by ${team}/NAME.`} example="nightly" />
      <ScopeChoice />
      <BoundsFields />
      <Expiry lasting={lasting} />
    </FormDialog>
  );
}

export function TokenName({ note, example }: { readonly note: string; readonly example: string }) {
  return (
    <FormField label="Name" note={note}>
      <input
        name="name"
        required
        maxLength={80}
        pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
        title="Letters, digits, dots, hyphens and underscores, beginning with a letter or digit"
        placeholder={example}
        autoCapitalize="none"
        spellCheck={false}
      />
    </FormField>
  );
}

/** At least one scope, or everything. */
function ScopeChoice() {
  const [isAll, setIsAll] = useState(false);
  const [chosen, setChosen] = useState<readonly string[]>(["submit"]);
  return (
    <fieldset className={styles.choices}>
      <legend>It may</legend>
      <label>
        <input
          type="radio"
          name="may"
          value="some"
          checked={!isAll}
          onChange={() => {
            setIsAll(false);
          }}
        />
        <span>do only this, and see the team&apos;s jobs:</span>
      </label>
      <ScopeBoxes scopes={SCOPES} chosen={chosen} onChoose={setChosen} isDisabled={isAll} />
      <label>
        <input
          type="radio"
          name="may"
          value="all"
          checked={isAll}
          onChange={() => {
            setIsAll(true);
          }}
        />
        <span>do all that tokens may, so also set secrets and upload data</span>
      </label>
    </fieldset>
  );
}

interface ScopeBoxesProps {
  readonly scopes: readonly ScopeWords[];
  readonly chosen: readonly string[];
  readonly onChoose: (chosen: readonly string[]) => void;
  readonly isDisabled?: boolean;
}

/** One of them has to be chosen, unless none can be. */
export function ScopeBoxes({ scopes, chosen, onChoose, isDisabled = false }: ScopeBoxesProps) {
  return scopes.map(({ scope, meaning }, place) => (
    <label key={scope} className={styles.inner}>
      <input
        type="checkbox"
        name="scope"
        value={scope}
        disabled={isDisabled}
        required={!isDisabled && chosen.length === 0 && place === 0}
        checked={!isDisabled && chosen.includes(scope)}
        onChange={({ target }) => {
          const others = chosen.filter((one) => one !== scope);
          onChoose(target.checked ? [...others, scope] : others);
        }}
      />
      <span>
        <strong>{scope}</strong> {meaning}
      </span>
    </label>
  ));
}

/** Empty fields limit nothing. */
export function BoundsFields() {
  return (
    <>
      <FormField
        label="Only jobs in pools"
        note="Empty: any. A token with limits reaches jobs alone, and what it submits is in them."
      >
        <input name="pools" maxLength={2000} autoCapitalize="none" spellCheck={false} />
      </FormField>
      <FormField label="Only jobs with labels" note="What it submits gets them. Empty: any.">
        <input
          name="labels"
          maxLength={2000}
          pattern="[\s,]*([^\s,=]+=[^\s,]*([\s,]+|$))*"
          title="KEY=VALUE, several with blanks between them"
          placeholder="project=digits"
          autoCapitalize="none"
          spellCheck={false}
        />
      </FormField>
    </>
  );
}

export function Expiry({ lasting }: Pick<AskedFor, "lasting">) {
  return (
    <FormField label="Expires after">
      <select name="days" defaultValue={lasting.usual}>
        {lasting.offered.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </FormField>
  );
}

export function RotateToken(asked: AskedFor & { readonly token: Token }) {
  const { team, token, lasting, onMade, onClose } = asked;
  const call = useRotateToken(team, token.id);
  return (
    <FormDialog
      title={`Rotate ${token.name}`}
      verb="Make another key"
      call={call}
      onSubmit={(form) => {
        call.mutate(rotationOf(form), { onSuccess: onMade });
      }}
      onClose={onClose}
    >
      <p>
        Another token of the same name comes, which may do the same. The list tells which of the two
        is still used.
      </p>
      <FormField
        label={`The former key, ${token.prefix}…, opens for`}
        note="Never longer than it would have anyway."
      >
        <select name="overlap" defaultValue={USUAL_OVERLAP_HOURS}>
          {OVERLAPS.map(({ hours, text }) => (
            <option key={hours} value={hours}>
              {text}
            </option>
          ))}
        </select>
      </FormField>
      <Expiry lasting={lasting} />
    </FormDialog>
  );
}

interface ShownKeyProps {
  readonly token: Pick<MadeToken, "name" | "key">;
  readonly onClose: () => void;
}

export function ShownKey({ token, onClose }: ShownKeyProps) {
  return (
    <ShownOnce title={`The key of ${token.name}`} secret={token.key} onClose={onClose}>
      Programs send it as <code>Authorization: Bearer</code>, or have it in{" "}
      <code>CONCERTINA_TOKEN</code>.
    </ShownOnce>
  );
}
