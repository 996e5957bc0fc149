/** A shell command, or a key, to copy. */

import { useRef, useState } from "react";

import styles from "./Command.module.css";

export function Command({ text }: { readonly text: string }) {
  const [isCopied, setCopied] = useState(false);
  const shown = useRef<HTMLElement>(null);
  const copy = () => {
    if (!window.isSecureContext) {
      select(shown.current); // over plain HTTP a page may not write there, but a person may copy
      return;
    }
    void navigator.clipboard.writeText(text).then(() => {
      setCopied(true);
      window.setTimeout(() => {
        setCopied(false);
      }, 1500);
    });
  };
  return (
    <span className={styles.command}>
      <code ref={shown}>{text}</code>
      <button type="button" className={styles.copy} onClick={copy} aria-label={`Copy: ${text}`}>
        {isCopied ? "Copied" : "Copy"}
      </button>
    </span>
  );
}

function select(element: HTMLElement | null): void {
  if (element !== null) window.getSelection()?.selectAllChildren(element);
}
