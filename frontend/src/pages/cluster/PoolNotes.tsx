/** What is to know of pools whose nodes come and go with a cluster? Mostly nothing. */

import { usePools } from "../../api/cluster";
import { poolNotes, trustNotes } from "../../domain/nodes";
import styles from "./ClusterPage.module.css";

interface PoolNotesProps {
  readonly pool?: string | undefined;
  readonly withTrust?: boolean;
}

export function PoolNotes({ pool, withTrust = false }: PoolNotesProps) {
  const items = usePools().data?.items ?? [];
  const shown = items.filter(({ name }) => pool === undefined || name === pool);
  const notes = [...poolNotes(shown), ...(withTrust ? trustNotes(shown) : [])];
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
