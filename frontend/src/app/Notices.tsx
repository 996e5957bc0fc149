/** What should whoever signs in know of this installation? Mostly nothing. */

import type { Session } from "../api/types";
import styles from "./Notices.module.css";

export function Notices({ notices }: { readonly notices: Session["notices"] }) {
  if (notices.length === 0) return null;
  return (
    <section aria-label="Notices" className={styles.notices} data-screen-only>
      {notices.map((notice) => (
        <p key={notice}>{notice}</p>
      ))}
    </section>
  );
}
