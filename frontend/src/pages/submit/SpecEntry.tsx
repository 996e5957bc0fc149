/** One field of the form, as its kind is. What is typed counts at once. */

import { useId } from "react";

import { humanise } from "../../domain/format";
import { entryOf, valueOf } from "../../domain/specText";
import type { SpecField } from "../../domain/specSchema";
import { useTyped } from "./useTyped";
import styles from "./SubmitPage.module.css";

interface SpecEntryProps {
  readonly field: SpecField;
  readonly value: string;
  readonly problem: string;
  readonly onChange: (text: string) => void;
}

export function SpecEntry({ field, value, problem, onChange }: SpecEntryProps) {
  const { path, kind, isRequired, standard } = field;
  const wrong = useId();
  const [typed, setTyped] = useTyped(value, (text) => entryOf(valueOf(text, kind), kind), onChange);
  const shared = {
    value: typed,
    "aria-invalid": problem !== "",
    "aria-describedby": wrong,
    onChange: ({ target }: { readonly target: { readonly value: string } }) => {
      setTyped(target.value);
    },
  };
  const hasLines = kind === "words" || kind === "pairs";
  return (
    <label className={styles.field} data-wide={hasLines}>
      <span>
        {humanise(path.split(".").slice(-1)[0] ?? path)}
        {isRequired && <i aria-hidden="true"> *</i>}
        {hasLines && <small>{kind === "words" ? " one in a line" : " NAME=VALUE in a line"}</small>}
      </span>
      {hasLines ? (
        <textarea
          {...shared}
          rows={Math.max(2, typed.split("\n").length)}
          aria-label={path}
          spellCheck={false}
        />
      ) : kind === "choice" || kind === "yesno" ? (
        <select {...shared} aria-label={path}>
          <option value="">{standard === "" ? "–" : `${standard}, as usual`}</option>
          {choicesOf(field, typed).map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...shared}
          aria-label={path}
          inputMode={kind === "number" ? "decimal" : undefined}
          placeholder={standard}
          autoComplete="off"
          spellCheck={false}
        />
      )}
      <small id={wrong} className={styles.refused}>
        {problem}
      </small>
    </label>
  );
}

function choicesOf({ kind, choices }: SpecField, value: string): readonly string[] {
  const all = kind === "yesno" ? ["true", "false"] : choices;
  return value === "" || all.includes(value) ? all : [value, ...all];
}
