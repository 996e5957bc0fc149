/** The parts of a page, each with an address of its own. */

import { NavLink } from "react-router";

import styles from "./Tabs.module.css";

interface TabsProps {
  readonly label: string;
  /** From the first on, which is at the page's own address. */
  readonly tabs: readonly { readonly to: string; readonly text: string }[];
}

export function Tabs({ label, tabs }: TabsProps) {
  return (
    <nav aria-label={label} className={styles.tabs} data-screen-only>
      {tabs.map(({ to, text }, place) => (
        <NavLink key={to} to={to} end={place === 0}>
          {text}
        </NavLink>
      ))}
    </nav>
  );
}
