/** How the job's workers and batch changed over time, and why each time. */

import type { UseQueryResult } from "@tanstack/react-query";
import { useMemo } from "react";

import type { Generation, Job } from "../../api/types";
import { Chart } from "../../charts/Chart";
import { useChartColours } from "../../charts/colours";
import { TIMELINE_HEIGHT, timelineOption } from "../../charts/generations";
import { Card } from "../../design/Card";
import { EmptyState } from "../../design/EmptyState";
import { Problem } from "../../design/Problem";
import { Skeleton } from "../../design/Skeleton";
import { useTeamSlots } from "../../design/teamColour";
import { changesOf } from "../../domain/changes";
import { plural } from "../../domain/format";
import { colourSlot } from "../../domain/teamColours";
import { Changes } from "./Changes";

interface TimelineProps {
  readonly job: Job;
  readonly generations: UseQueryResult<{ items: Generation[] }>;
}

export function Timeline({ job, generations }: TimelineProps) {
  const items = generations.data?.items;
  return (
    <Card
      title="Timeline"
      note={
        items !== undefined &&
        items.length > 0 &&
        `${plural(items.length, "generation")}; point at one to see why it began`
      }
    >
      {generations.isPending && <Skeleton height={TIMELINE_HEIGHT} />}
      {generations.isLoadingError && (
        <Problem error={generations.error} onRetry={() => void generations.refetch()} />
      )}
      {items?.length === 0 && (
        <EmptyState title="It has not trained yet">
          <p>Every change of its workers or batch will stand here with its reason.</p>
        </EmptyState>
      )}
      {items !== undefined && items.length > 0 && (
        <>
          <TimelineChart job={job} generations={items} updatedAt={generations.dataUpdatedAt} />
          <Changes changes={changesOf(items)} jobId={job.id} />
        </>
      )}
    </Card>
  );
}

interface TimelineChartProps {
  readonly job: Job;
  readonly generations: readonly Generation[];
  /** Where an unfinished generation ends on the chart: the moment it was last seen. */
  readonly updatedAt: number;
}

function TimelineChart({ job, generations, updatedAt }: TimelineChartProps) {
  const colours = useChartColours();
  const slot = colourSlot(useTeamSlots(), job.team);
  const option = useMemo(
    () =>
      timelineOption({
        generations,
        maxWorkers: job.max_workers,
        now: updatedAt,
        colours,
        colour: colours.teams[slot] ?? colours.accent,
      }),
    [generations, job.max_workers, updatedAt, colours, slot],
  );
  return (
    <Chart
      option={option}
      height={TIMELINE_HEIGHT}
      label={`Workers, global batch and stalls of ${job.name} over time; the list below says the same`}
      name={`timeline of ${job.name}`}
    />
  );
}
