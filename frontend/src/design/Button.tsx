/** A button: plain, primary (the one thing to do) or danger (hard to take back). */

import type { ButtonHTMLAttributes } from "react";

import styles from "./Button.module.css";

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly look?: "plain" | "primary" | "danger" | "quiet";
}

export function Button({ look = "plain", type = "button", ...rest }: ButtonProps) {
  return <button {...rest} type={type} className={styles.button} data-look={look} />;
}
