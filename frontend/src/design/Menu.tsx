/** A button that shows what else can be chosen below it; Escape or a click elsewhere hides it. */

import { useEffect, useId, useRef, useState, type ReactNode } from "react";

import { Button } from "./Button";
import styles from "./Menu.module.css";

interface MenuProps {
  readonly label: ReactNode;
  /** What is chosen in it, in words. */
  readonly name: string;
  readonly isSet?: boolean;
  readonly side?: "start" | "end";
  readonly children: ReactNode;
}

export function Menu({ label, name, isSet = false, side = "start", children }: MenuProps) {
  const [isOpen, setIsOpen] = useState(false);
  const whole = useRef<HTMLDivElement>(null);
  const panel = useId();
  useEffect(() => {
    if (!isOpen) return;
    const leave = ({ target }: Event) => {
      if (!(target instanceof Node) || !whole.current?.contains(target)) setIsOpen(false);
    };
    const escape = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      setIsOpen(false);
      whole.current?.querySelector("button")?.focus();
    };
    document.addEventListener("pointerdown", leave);
    document.addEventListener("focusin", leave);
    document.addEventListener("keydown", escape);
    return () => {
      document.removeEventListener("pointerdown", leave);
      document.removeEventListener("focusin", leave);
      document.removeEventListener("keydown", escape);
    };
  }, [isOpen]);
  return (
    <div ref={whole} className={styles.menu} data-set={isSet}>
      <Button
        aria-expanded={isOpen}
        aria-controls={panel}
        onClick={() => {
          setIsOpen(!isOpen);
        }}
      >
        {label}
        <svg width="10" height="6" viewBox="0 0 10 6" aria-hidden="true">
          <path d="M1 1l4 4 4-4" />
        </svg>
      </Button>
      <div
        id={panel}
        className={styles.panel}
        role="group"
        aria-label={name}
        data-side={side}
        hidden={!isOpen}
      >
        {isOpen && children}
      </div>
    </div>
  );
}
