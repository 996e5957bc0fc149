/** What is to know of pools whose nodes come and go with a cluster? Mostly nothing. */

import { usePools } from "../../api/cluster";
import { poolNotes } from "../../domain/nodes";
import styles from "./ClusterPage.module.css";

export function PoolNotes({ pool }: { readonly pool?: string | undefined }) {
  const items = usePools().data?.items ?? [];
  const notes = poolNotes(items.filter(({ name }) => pool === undefined || name === pool));
  if (notes.length === 0) return null;
  return (
    <ul aria-label="Pools that follow a cluster" className={styles.notes}>
      {notes.map((note) => (
        <li key={`${note.pool} ${note.text}`}>
          Pool <b>{note.pool}</b>: {note.text}
        </li>
      ))}
    </ul>
  );
}
