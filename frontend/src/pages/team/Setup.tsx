/** What does a team keep for its jobs, and what may they run? */

import { Images } from "./Images";
import { Models } from "./Models";
import { Retention } from "./Retention";
import { Secrets } from "./Secrets";
import { Storage } from "./Storage";
import { Rules } from "./rules/Rules";
import { Templates } from "./rules/Templates";
import styles from "./TeamPage.module.css";

export function Setup({ team }: { readonly team: string }) {
  return (
    <div className={styles.halves}>
      <div className={styles.column}>
        <Secrets team={team} />
        <Models team={team} />
        <Images team={team} />
      </div>
      <div className={styles.column}>
        <Storage team={team} />
        <Retention team={team} />
        <Rules team={team} />
        <Templates team={team} />
      </div>
    </div>
  );
}
