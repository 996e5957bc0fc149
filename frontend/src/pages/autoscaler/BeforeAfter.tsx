/** All jobs of a pool as two strips, and how the upper becomes the lower one. */

import type { TickShare } from "../../api/types";
import { useTeamColour } from "../../design/teamColour";
import { plural } from "../../domain/format";
import { stripsOf, type Stretch, type StripPart } from "../../domain/ticks";
import styles from "./BeforeAfter.module.css";

interface BeforeAfterProps {
  readonly jobs: readonly TickShare[];
  readonly gpusTotal: number;
}

export function BeforeAfter({ jobs, gpusTotal }: BeforeAfterProps) {
  const colourOf = useTeamColour();
  const parts = stripsOf(jobs, gpusTotal);
  const changed = parts.filter(({ gpusBefore, gpusAfter }) => gpusBefore !== gpusAfter);
  const told = changed.map((one) => `${one.name} ${one.gpusBefore} → ${one.gpusAfter}`);
  const label = `${plural(parts.length, "job")} on ${plural(gpusTotal, "GPU")}: ${told.join(", ")}`;
  return (
    <figure className={styles.picture} role="img" aria-label={label}>
      <Strip name="Before" when="before" parts={parts} colourOf={colourOf} />
      <span aria-hidden="true" />
      <svg className={styles.ribbons} viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden>
        {parts.map((part) => (
          <path
            key={part.key}
            d={ribbon(part.before, part.after)}
            fill={colourOf(part.team)}
            opacity={part.gpusBefore === part.gpusAfter ? 0.16 : 0.5}
          />
        ))}
      </svg>
      <Strip name="After" when="after" parts={parts} colourOf={colourOf} />
    </figure>
  );
}

/** From the stretch above to the one below, in a bend. */
function ribbon(above: Stretch, below: Stretch): string {
  return (
    `M${above.begin} 0 L${above.end} 0 C${above.end} 0.5 ${below.end} 0.5 ${below.end} 1 ` +
    `L${below.begin} 1 C${below.begin} 0.5 ${above.begin} 0.5 ${above.begin} 0 Z`
  );
}

interface StripProps {
  readonly name: string;
  readonly when: "before" | "after";
  readonly parts: readonly StripPart[];
  readonly colourOf: (team: string) => string;
}

const NARROWEST = 0.04; // of the strip, for a name to stand in it

function Strip({ name, when, parts, colourOf }: StripProps) {
  const held = parts.at(-1)?.[when].end ?? 0;
  return (
    <>
      <span className={styles.name}>{name}</span>
      <div className={styles.strip}>
        {parts.map((part) => {
          const { begin, end } = part[when];
          const gpus = when === "before" ? part.gpusBefore : part.gpusAfter;
          if (gpus === 0) return null;
          return (
            <span
              key={part.key}
              className={styles.job}
              data-changed={part.gpusBefore !== part.gpusAfter}
              style={{ width: `${(end - begin) * 100}%`, "--team": colourOf(part.team) }}
              title={`${part.name}: ${plural(gpus, "GPU")}`}
            >
              {end - begin >= NARROWEST && (
                <>
                  {part.name} <b>{gpus}</b>
                </>
              )}
            </span>
          );
        })}
        {held < 1 && <span className={styles.free} style={{ width: `${(1 - held) * 100}%` }} />}
      </div>
    </>
  );
}
