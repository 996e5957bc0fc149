/** What did the autoscaler change, when, and why? Now, or scrubbed through a time that is over. */

import { Link, useSearchParams } from "react-router";

import { usePools } from "../../api/cluster";
import { useSession } from "../../api/session";
import { useNewestTicks, usePastTicks, useTickAt } from "../../api/ticks";
import { useInAddress } from "../../app/useInAddress";
import { Button } from "../../design/Button";
import { useEndOfMinute } from "../../design/now";
import { Problem } from "../../design/Problem";
import { Segments } from "../../design/Segments";
import { Skeleton } from "../../design/Skeleton";
import frame from "../../design/Page.module.css";
import { absoluteTime, milliseconds } from "../../domain/time";
import { addressOf, PRESETS, rangeOf, shifted, type Preset } from "../../domain/timeRange";
import { Moment } from "./Moment";
import { PriceChart } from "./PriceChart";
import { Scrubber } from "./Scrubber";
import { TickList } from "./TickList";
import styles from "./AutoscalerPage.module.css";

export default function AutoscalerPage() {
  const [address, setAddress] = useSearchParams();
  const now = useEndOfMinute();
  const range = rangeOf(address.get("from") ?? "", address.get("to") ?? "", now);
  const newest = useNewestTicks(range.isLive);
  const past = usePastTicks(range);
  const ticks = range.isLive
    ? newest.data?.items.filter(({ at }) => milliseconds(at) >= range.from)
    : past.data?.pages.flatMap(({ items }) => items);
  const [wished, setAt] = useInAddress("at");
  const first = ticks?.[0];
  const at = wished === "" ? first && milliseconds(first.at) : Date.parse(wished);
  const moment = at === undefined || Number.isNaN(at) ? null : at;
  const tick = useTickAt(moment);
  const pools = usePools().data?.items ?? [];
  const [wish, setPool] = useInAddress("pool");
  const pool = pools.find(({ name }) => name === wish)?.name ?? pools[0]?.name;
  const goTo = (place: { from: string; to: string }) => {
    setAddress((before) => {
      const after = new URLSearchParams(before);
      after.delete("at");
      for (const [name, value] of Object.entries(place)) {
        if (value === "") after.delete(name);
        else after.set(name, value);
      }
      return after;
    });
  };
  const isAdmin = useSession().data?.user.is_admin ?? false;
  const error = range.isLive ? newest : past;
  return (
    <div className={frame.page}>
      <title>Autoscaler · Concertina</title>
      <header className={frame.heading}>
        <h1>Autoscaler</h1>
        <p>
          {range.isLive
            ? "The last hour, as it goes on"
            : `${absoluteTime(range.from)} – ${absoluteTime(range.to)}`}
        </p>
      </header>
      <div className={styles.tools}>
        <Segments<Preset | "">
          label="Time"
          options={PRESETS}
          value={range.isLive ? "hour" : ""}
          onChange={(preset) => {
            if (preset !== "") goTo(addressOf(preset, Date.now()));
          }}
        />
        <Button
          onClick={() => {
            goTo(shifted(range, -1));
          }}
        >
          Earlier
        </Button>
        <Button
          disabled={range.isLive}
          onClick={() => {
            goTo(shifted(range, 1));
          }}
        >
          Later
        </Button>
        {pools.length > 1 && (
          <Segments
            label="Pool"
            options={pools.map(({ name }) => ({ value: name, text: name }))}
            value={pool ?? ""}
            onChange={setPool}
          />
        )}
        {isAdmin && pool !== undefined && (
          <Link className={styles.replay} to={replayAddress(pool, range.from)}>
            Replay with another policy
          </Link>
        )}
      </div>
      {error.isLoadingError && <Problem error={error.error} onRetry={() => void error.refetch()} />}
      {pool !== undefined && (
        <PriceChart pool={pool} range={range} at={moment}>
          <Scrubber
            key={range.isLive ? "live" : range.from}
            range={range}
            at={moment}
            isFollowing={range.isLive && wished === ""}
            onMove={setAt}
          />
        </PriceChart>
      )}
      {ticks === undefined && !error.isLoadingError && <Skeleton height={240} />}
      {ticks !== undefined && pool !== undefined && (
        <>
          <Moment tick={tick.data} pool={pool} isLoading={tick.isLoading} />
          <TickList
            ticks={ticks}
            chosen={tick.data?.id ?? null}
            onChoose={setAt}
            hasMore={!range.isLive && past.hasNextPage}
            onMore={() => void past.fetchNextPage()}
          />
        </>
      )}
    </div>
  );
}

/** Where the jobs of this time, and of what came since, are replayed. */
function replayAddress(pool: string, from: number): string {
  const asked = new URLSearchParams({ pool, since: new Date(from).toISOString() });
  return `/simulations?${asked.toString()}`;
}
