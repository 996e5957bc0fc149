/** A field in one line. What is typed in it counts a moment after the last key, or on leaving it. */

import { useEffect, useId, useRef, useState } from "react";

import styles from "./Field.module.css";

const SETTLED_MILLISECONDS = 400;

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly placeholder?: string;
  readonly type?: "search" | "text" | "date";
  readonly suggestions?: readonly string[];
}

export function TextField({ value, onChange, suggestions = [], ...field }: TextFieldProps) {
  const [draft, setDraft] = useState<string | null>(null); // null: all that was typed counts
  const timer = useRef<number>(undefined);
  const list = useId();
  useEffect(
    () => () => {
      window.clearTimeout(timer.current);
    },
    [],
  );
  const settle = (text: string | null) => {
    window.clearTimeout(timer.current);
    setDraft(null);
    if (text !== null && text.trim() !== value) onChange(text.trim());
  };
  return (
    <>
      <input
        className={styles.field}
        type={field.type ?? "text"}
        aria-label={field.label}
        placeholder={field.placeholder}
        maxLength={200}
        list={suggestions.length > 0 ? list : undefined}
        value={draft ?? value}
        data-set={value !== ""}
        autoComplete="off"
        spellCheck={false}
        onChange={({ target }) => {
          setDraft(target.value);
          window.clearTimeout(timer.current);
          timer.current = window.setTimeout(settle, SETTLED_MILLISECONDS, target.value);
        }}
        onBlur={() => {
          settle(draft);
        }}
        onKeyDown={({ key }) => {
          if (key === "Enter") settle(draft);
        }}
      />
      {suggestions.length > 0 && (
        <datalist id={list}>
          {suggestions.map((text) => (
            <option key={text} value={text} />
          ))}
        </datalist>
      )}
    </>
  );
}

interface SelectFieldProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly string[];
  /** What stands there while nothing is chosen. */
  readonly all: string;
  readonly onChange: (value: string) => void;
}

/** A choice that is not among the options any more can still be seen, and taken back. */
export function SelectField({ label, value, options, all, onChange }: SelectFieldProps) {
  const known = value === "" || options.includes(value) ? options : [value, ...options];
  return (
    <select
      className={styles.field}
      aria-label={label}
      value={value}
      data-set={value !== ""}
      onChange={({ target }) => {
        onChange(target.value);
      }}
    >
      <option value="">{all}</option>
      {known.map((option) => (
        <option key={option} value={option}>
          {option}
        </option>
      ))}
    </select>
  );
}
