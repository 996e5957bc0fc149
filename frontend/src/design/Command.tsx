/** A shell command, or a key, to copy. */

import { useRef, useState } from "react";

import styles from "./Command.module.css";

export function Command({ text }: { readonly text: string }) {
  const [isCopied, setCopied] = useState(false);
  const shown = useRef<HTMLElement>(null);
  const copy = () => {
    const choose = () => {
      select(shown.current); // where a page may not write there, a person may copy
    };
    if (!window.isSecureContext) {
      choose();
      return;
    }
    navigator.clipboard.writeText(text).then(() => {
      setCopied(true);
      window.setTimeout(() => {
        setCopied(false);
      }, 1500);
    }, choose);
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
