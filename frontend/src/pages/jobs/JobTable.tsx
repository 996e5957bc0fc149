/** The rows of the list, of which only those on screen are drawn. */

import {
  columnVisibilityFeature,
  createColumnHelper,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import {
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
} from "react";

import type { Job } from "../../api/types";
import { useTeamColour } from "../../design/teamColour";
import { JOB_COLUMNS } from "../../domain/jobColumns";
import type { JobOrder } from "../../domain/jobFilter";
import { JobCell, type CellContext } from "./JobCell";
import { JobHeader } from "./JobHeader";
import { rowAfter } from "./keys";
import type { Chosen } from "./useChosen";
import { ROW_PIXELS, useIsNarrow } from "./useIsNarrow";
import type { OpenedList } from "./useJobList";
import styles from "./JobTable.module.css";

const features = tableFeatures({ columnVisibilityFeature });
const helper = createColumnHelper<typeof features, Job>();
const columns = helper.columns(
  JOB_COLUMNS.map(({ id, title, value }) => helper.accessor(value, { id, header: title })),
);
const OVERSCAN = 8;

interface JobTableProps {
  readonly list: OpenedList;
  readonly total: number | undefined;
  readonly columns: readonly string[];
  readonly order: JobOrder;
  readonly onOrder: (order: JobOrder) => void;
  readonly chosen: Chosen;
  readonly narrow: CellContext["narrow"];
  /** Below the rows, for example instead of them. */
  readonly children: ReactNode;
}

/** Made anew for each list. */
export function JobTable({ list, total, chosen, narrow, ...shown }: JobTableProps) {
  const { pages } = list;
  const scroller = useRef<HTMLDivElement>(null);
  const colourOf = useTeamColour();
  const isNarrow = useIsNarrow();
  const height = isNarrow ? ROW_PIXELS.narrow : ROW_PIXELS.wide;
  const [focused, setFocused] = useState<number | null>(null);
  // oxlint-disable-next-line react/incompatible-library -- nothing here is compiled
  const virtualizer = useVirtualizer({
    count: pages.rows,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: OVERSCAN,
    initialOffset: list.scrolled,
    // The row with the focus stays, wherever is scrolled to, or the keyboard would lose its place.
    rangeExtractor: (range) => {
      const rows = defaultRangeExtractor(range);
      if (focused === null || rows.includes(focused) || focused >= range.count) return rows;
      return [...rows, focused].toSorted((a, b) => a - b);
    },
  });
  useEffect(() => {
    virtualizer.measure();
  }, [virtualizer, height]);
  const items = virtualizer.getVirtualItems();
  const first = virtualizer.range?.startIndex ?? 0;
  const last = virtualizer.range?.endIndex ?? 0;
  useEffect(() => {
    pages.show(first, last);
  }, [pages, first, last]);

  const visible = new Set(shown.columns);
  const table = useTable({
    features,
    columns,
    data: pages.held,
    getRowId: ({ id }) => id,
    state: {
      columnVisibility: Object.fromEntries(JOB_COLUMNS.map(({ id }) => [id, visible.has(id)])),
    },
  });
  const tracks = table.getVisibleLeafColumns().map(({ id }) => trackOf(id));
  const drawn = new Map(table.getRowModel().rows.map((row) => [row.id, row]));

  const sought = useRef<{ readonly row: number; readonly part: string } | null>(null);
  useLayoutEffect(() => {
    if (sought.current === null) return;
    const { row, part } = sought.current;
    const found = scroller.current?.querySelector<HTMLElement>(
      `[data-row="${row}"] [data-part="${part}"]`,
    );
    if (!found) return;
    sought.current = null;
    found.focus({ preventScroll: true });
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const part = event.target instanceof HTMLElement ? event.target.dataset.part : undefined;
    if (part === undefined || focused === null) return;
    const perScreen = Math.floor((scroller.current?.clientHeight ?? 0) / height) - 1;
    const row = rowAfter(event.key, focused, pages.rows, perScreen);
    if (row === null) return;
    event.preventDefault();
    sought.current = { row, part };
    setFocused(row);
    virtualizer.scrollToIndex(row);
  };

  return (
    <div
      ref={scroller}
      className={styles.scroller}
      onScroll={({ currentTarget }) => {
        list.scrolled = currentTarget.scrollTop;
      }}
    >
      <div
        role="grid"
        aria-label="Jobs"
        aria-multiselectable
        tabIndex={-1}
        aria-rowcount={total === undefined ? -1 : total + 1}
        className={styles.table}
        data-order={shown.order}
        style={{ "--tracks": ["36px", ...tracks].join(" ") }}
        onKeyDown={onKeyDown}
        onBlur={({ currentTarget, relatedTarget }) => {
          if (relatedTarget !== null && !currentTarget.contains(relatedTarget)) setFocused(null);
        }}
      >
        <JobHeader
          columns={table.getVisibleLeafColumns().map(({ id }) => id)}
          order={shown.order}
          onOrder={shown.onOrder}
          chosen={chosen}
        />
        <div role="rowgroup" className={styles.body} style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const job = pages.at(index);
            return (
              <div
                key={index}
                role="row"
                aria-rowindex={index + 2}
                aria-selected={job !== undefined && chosen.has(job.id)}
                data-row={index}
                className={styles.row}
                style={{ height, transform: `translateY(${start}px)` }}
                onFocus={() => {
                  setFocused(index);
                }}
              >
                {job === undefined ? (
                  <span role="gridcell" className={styles.toCome} aria-label="Loading" />
                ) : (
                  <>
                    <span role="gridcell" className={styles.choice}>
                      <input
                        type="checkbox"
                        data-part="choice"
                        aria-label={`Choose ${job.name}`}
                        checked={chosen.has(job.id)}
                        onClick={({ shiftKey }) => {
                          chosen.toggle(index, shiftKey);
                        }}
                        onChange={() => undefined}
                      />
                    </span>
                    {drawn
                      .get(job.id)
                      ?.getVisibleCells()
                      .map(({ id, column }) => (
                        <span
                          key={id}
                          role="gridcell"
                          className={styles.cell}
                          data-column={column.id}
                          data-number={isNumber(column.id)}
                        >
                          <JobCell
                            column={column.id}
                            job={job}
                            colourOf={colourOf}
                            narrow={narrow}
                          />
                        </span>
                      ))}
                  </>
                )}
              </div>
            );
          })}
        </div>
      </div>
      {shown.children}
    </div>
  );
}

const COLUMN_OF = new Map(JOB_COLUMNS.map((column) => [column.id, column]));

function trackOf(id: string): string {
  return COLUMN_OF.get(id)?.width ?? "100px";
}

function isNumber(id: string): boolean {
  return COLUMN_OF.get(id)?.isNumber ?? false;
}
