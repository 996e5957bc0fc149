/** What the change would have meant: in sentences, and as bars before and after. */

import { isLive, useCancelPreview } from "../../api/quotas";
import type { PreviewedTeam, QuotaPreview, TeamOutcome } from "../../api/types";
import { TeamMark } from "../../design/TeamMark";
import { useTeamColour } from "../../design/teamColour";
import { RelativeTime } from "../../design/Time";
import { UnderWay } from "../../design/UnderWay";
import { formatDuration, formatGpuHours, plural } from "../../domain/format";
import {
  askedAbout,
  askedInWords,
  barsOf,
  previewInWords,
  replayedWords,
} from "../../domain/quotas";
import styles from "./QuotasPage.module.css";

export function PreviewTold({ preview }: { readonly preview: QuotaPreview }) {
  const cancel = useCancelPreview(preview.id);
  if (isLive(preview)) {
    return (
      <UnderWay
        work={preview}
        label="Replayed"
        told={replayedWords}
        isGivingUp={cancel.isPending}
        onGiveUp={() => {
          cancel.mutate();
        }}
      />
    );
  }
  if (preview.result === null) {
    return (
      <p role="status" className={styles.said} data-tone="warning">
        {preview.state === "cancelled" ? "The preview was given up." : preview.error}
      </p>
    );
  }
  const { paused, jobs, until } = preview.result;
  const asked = preview.request.quotas ?? [];
  const teams = askedAbout(preview.result.teams, asked);
  const told = previewInWords(teams, paused);
  return (
    <div className={styles.told}>
      <p className={styles.note}>{askedInWords(asked)}</p>
      <div role="status" aria-label="What it would have meant">
        <ul className={styles.sentences}>
          {told.map((text) => (
            <li key={text}>{text}</li>
          ))}
          {told.length === 0 && <li>Nothing worth telling would have changed.</li>}
        </ul>
      </div>
      <Bars title="Mean wait" rows={teams} figure={waitOf} written={formatDuration} />
      <Bars title="GPU-hours borrowed" rows={teams} figure={borrowedOf} written={hoursOf} />
      <Bars title="GPU-hours lent" rows={teams} figure={lentOf} written={hoursOf} />
      <p className={styles.note}>
        {plural(jobs, "job")} of the last {plural(preview.request.days, "day")}, read{" "}
        <RelativeTime at={until} />. Pale: as it is. Full: as it would have been.
      </p>
    </div>
  );
}

interface BarsProps {
  readonly title: string;
  readonly rows: readonly PreviewedTeam[];
  readonly figure: (outcome: TeamOutcome) => number | null;
  readonly written: (value: number | null) => string;
}

function Bars({ title, rows, figure, written }: BarsProps) {
  const colour = useTeamColour();
  const bars = barsOf(rows, figure);
  const value = (outcome: TeamOutcome | null) => written(outcome === null ? null : figure(outcome));
  return (
    <section aria-label={title}>
      <h3 className={styles.title}>{title}</h3>
      <ul className={styles.bars}>
        {rows.map(({ team, before, after }, place) => (
          <li key={team} style={{ "--team": colour(team) }}>
            <TeamMark team={team} />
            <span aria-hidden="true" className={styles.pair}>
              <span data-side="before" style={{ width: `${String(bars[place]?.before ?? 0)}%` }} />
              <span data-side="after" style={{ width: `${String(bars[place]?.after ?? 0)}%` }} />
            </span>
            <span className={styles.figures}>
              {value(before) === value(after) ? value(after) : `${value(before)} → ${value(after)}`}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function waitOf({ wait_seconds }: TeamOutcome): number | null {
  return wait_seconds;
}

function borrowedOf({ borrowed_gpu_hours }: TeamOutcome): number {
  return borrowed_gpu_hours;
}

function lentOf({ lent_gpu_hours }: TeamOutcome): number {
  return lent_gpu_hours;
}

function hoursOf(hours: number | null): string {
  return hours === null ? "–" : formatGpuHours(hours);
}
