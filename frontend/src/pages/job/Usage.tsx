/** What the job's workers take of their nodes, and since when they do nothing. */

import { useMemo, useState } from "react";

import { useUsage } from "../../api/jobs";
import type { Job } from "../../api/types";
import { Chart } from "../../charts/Chart";
import { useChartColours } from "../../charts/colours";
import { curveOption } from "../../charts/curve";
import { Card } from "../../design/Card";
import { Segments } from "../../design/Segments";
import { useTeamSlots } from "../../design/teamColour";
import { RelativeTime } from "../../design/Time";
import type { Change } from "../../domain/changes";
import { bordersOf } from "../../domain/curves";
import { isFinal } from "../../domain/states";
import { colourSlot } from "../../domain/teamColours";
import { measuresOf, usageCurve } from "../../domain/usage";

const POINTS = 300;
const HEIGHT = 180;

interface UsageProps {
  readonly job: Job;
  readonly changes: readonly Change[];
}

/** Nothing where nothing was read: a job that only waits, or a host that nobody can read. */
export function Usage({ job, changes }: UsageProps) {
  const usage = useUsage(job.id, POINTS, !isFinal(job.state));
  const [chosen, setChosen] = useState<string | null>(null);
  const colours = useChartColours();
  const slot = colourSlot(useTeamSlots(), job.team);
  const points = useMemo(() => usage.data?.items ?? [], [usage.data]);
  const measures = useMemo(() => measuresOf(points), [points]);
  const measure = measures.find(({ name }) => name === chosen) ?? measures[0];
  const option = useMemo(
    () =>
      measure &&
      curveOption({
        name: measure.name,
        unit: measure.unit,
        points: usageCurve(points, measure),
        axis: "time",
        borders: bordersOf(changes, [], "time"),
        colour: colours.teams[slot] ?? colours.accent,
        colours,
        isNoisy: false,
        startsAtZero: true,
      }),
    [points, measure, changes, colours, slot],
  );
  if (measure === undefined || option === undefined) return null;
  const since = usage.data?.idle_since ?? null;
  return (
    <Card
      title="Use"
      note={since === null ? `${measure.unit}, all workers together` : <IdleSince at={since} />}
      actions={
        <Segments
          label="Measure"
          options={measures.map(({ name }) => ({ value: name, text: name }))}
          value={measure.name}
          onChange={setChosen}
        />
      }
    >
      <Chart
        option={option}
        height={HEIGHT}
        label={`${measure.name} of ${job.name} over time`}
        name={`${measure.name} of ${job.name}`}
      />
    </Card>
  );
}

function IdleSince({ at }: { readonly at: string }) {
  return (
    <>
      idle since <RelativeTime at={at} />
    </>
  );
}
