/** A text in YAML, and why it cannot be read. */

import { useId } from "react";

import styles from "./Rules.module.css";

interface YamlFieldProps {
  readonly label: string;
  readonly text: string;
  readonly problem: string;
  readonly example: string;
  readonly onChange: (text: string) => void;
}

export function YamlField({ label, text, problem, example, onChange }: YamlFieldProps) {
  const wrong = useId();
  return (
    <div>
      <textarea
        className={styles.text}
        aria-label={label}
        aria-invalid={problem !== ""}
        aria-describedby={wrong}
        rows={Math.min(24, Math.max(10, text.split("\n").length + 1))}
        placeholder={example}
        spellCheck={false}
        autoCapitalize="off"
        value={text}
        onChange={({ target }) => {
          onChange(target.value);
        }}
      />
      <p id={wrong} role="status" className={styles.wrong}>
        {problem}
      </p>
    </div>
  );
}
