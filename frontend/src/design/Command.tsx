/** A shell command to copy. */

import { useState } from "react";

import styles from "./Command.module.css";

export function Command({ text }: { readonly text: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => {
    void navigator.clipboard.writeText(text).then(() => {
      setCopied(true);
      window.setTimeout(() => {
        setCopied(false);
      }, 1500);
    });
  };
  return (
    <span className={styles.command}>
      <code>{text}</code>
      <button type="button" className={styles.copy} onClick={copy} aria-label={`Copy: ${text}`}>
        {isCopied ? "Copied" : "Copy"}
      </button>
    </span>
  );
}
