/** A question before something happens: modal, closed by Escape, focus kept inside. */

import { useEffect, useId, useRef, type ReactNode } from "react";

import styles from "./Dialog.module.css";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Opens when it is rendered; the owner stops rendering it to close it. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const opener = document.activeElement;
    const around = opener?.closest("section") ?? null;
    dialog.current?.showModal();
    return () => {
      giveFocusBack(opener, around);
    };
  }, []);
  return (
    <dialog ref={dialog} className={styles.dialog} aria-labelledby={heading} onClose={onClose}>
      <h2 id={heading} className={styles.title}>
        {title}
      </h2>
      {children}
    </dialog>
  );
}

/** To where it was, also if it was not Escape; if that has gone meanwhile, to what was around it. */
function giveFocusBack(opener: Element | null, around: HTMLElement | null): void {
  if (opener instanceof HTMLElement && opener.isConnected) {
    opener.focus();
  } else if (around !== null) {
    around.tabIndex = -1;
    around.focus();
  }
}
