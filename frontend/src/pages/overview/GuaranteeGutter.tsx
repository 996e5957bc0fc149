/** Beside the chart, on the same scale: which part of the pool is guaranteed to whom. */

import type { Utilisation } from "../../api/types";
import { PLOT } from "../../charts/utilisation";
import { useTeamColour } from "../../design/teamColour";
import { guaranteeBands } from "../../domain/utilisation";
import styles from "./GuaranteeGutter.module.css";

export function GuaranteeGutter({ utilisation }: { readonly utilisation: Utilisation }) {
  const colourOf = useTeamColour();
  const bands = guaranteeBands(utilisation);
  const shared = utilisation.gpus_total - (bands.at(-1)?.to ?? 0);
  return (
    <figcaption
      className={styles.gutter}
      style={{ paddingTop: PLOT.top, paddingBottom: PLOT.bottom }}
      aria-label="Guarantees"
    >
      {bands.map((band) => (
        <Band
          key={band.team}
          name={band.team}
          gpus={band.to - band.from}
          note="guaranteed"
          colour={colourOf(band.team)}
        />
      ))}
      {shared > 0 && (
        <Band name="shared" gpus={shared} note="no guarantee" colour="var(--border-strong)" />
      )}
    </figcaption>
  );
}

interface BandProps {
  readonly name: string;
  readonly gpus: number;
  readonly note: string;
  readonly colour: string;
}

function Band({ name, gpus, note, colour }: BandProps) {
  return (
    <div className={styles.band} style={{ flexGrow: gpus }}>
      <span className={styles.mark} style={{ background: colour }} />
      <span className={styles.words}>
        <strong>{name}</strong>
        <span>
          {gpus} <span className={styles.note}>{note}</span>
        </span>
      </span>
    </div>
  );
}
