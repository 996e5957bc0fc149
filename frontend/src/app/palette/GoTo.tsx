/** The button, and the keys Ctrl or ⌘ and K, that open the palette; its code comes then. */

import { lazy, Suspense, useEffect, useRef, useState } from "react";

import type { Session } from "../../api/types";
import styles from "./GoTo.module.css";

const Palette = lazy(() => import("./Palette"));

export function GoTo({ user }: { readonly user: Session["user"] }) {
  const [isOpen, setIsOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      if (event.shiftKey || event.altKey || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      setIsOpen(true);
    };
    document.addEventListener("keydown", open);
    return () => {
      document.removeEventListener("keydown", open);
    };
  }, []);
  return (
    <>
      <button
        ref={button}
        type="button"
        className={styles.button}
        aria-keyshortcuts="Control+K Meta+K"
        title="Go to a job, team, node or page (Ctrl K)"
        onClick={() => {
          setIsOpen(true);
        }}
      >
        <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
          <circle cx="7" cy="7" r="4.5" />
          <path d="M10.4 10.4L14 14" />
        </svg>
        <span className={styles.words}>Go to …</span>
        <kbd className={styles.keys} aria-hidden="true">
          Ctrl K
        </kbd>
      </button>
      {isOpen && (
        <Suspense>
          <Palette
            user={user}
            onClose={() => {
              setIsOpen(false);
              button.current?.focus();
            }}
          />
        </Suspense>
      )}
    </>
  );
}
