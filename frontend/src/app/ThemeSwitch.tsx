/** One button that goes round: as the system, light, dark. */

import { chooseTheme, useThemeChoice, type ThemeChoice } from "../design/theme";
import styles from "./ThemeSwitch.module.css";

const NEXT: Record<ThemeChoice, ThemeChoice> = { system: "light", light: "dark", dark: "system" };
const NAMES: Record<ThemeChoice, string> = {
  system: "as the system",
  light: "light",
  dark: "dark",
};

export function ThemeSwitch() {
  const choice = useThemeChoice();
  const label = `Theme: ${NAMES[choice]}. Change to ${NAMES[NEXT[choice]]}.`;
  return (
    <button
      type="button"
      className={styles.button}
      aria-label={label}
      title={label}
      onClick={() => {
        chooseTheme(NEXT[choice]);
      }}
    >
      <svg width="18" height="18" viewBox="0 0 24 24" aria-hidden="true">
        {ICONS[choice]}
      </svg>
    </button>
  );
}

const ICONS = {
  system: (
    <>
      <circle cx="12" cy="12" r="8" />
      <path d="M12 4a8 8 0 0 1 0 16z" fill="currentColor" />
    </>
  ),
  light: (
    <>
      <circle cx="12" cy="12" r="4.2" />
      <path d="M12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4" />
    </>
  ),
  dark: <path d="M20 14.2A8.2 8.2 0 0 1 9.8 4a8.2 8.2 0 1 0 10.2 10.2z" />,
};
