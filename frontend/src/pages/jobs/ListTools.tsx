/** How the list is ordered, which columns it has, and how it leaves the page. */

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import type { Job } from "../../api/types";
import { Button } from "../../design/Button";
import { Menu } from "../../design/Menu";
import { Segments } from "../../design/Segments";
import { JOB_COLUMNS, jobsAsCsv } from "../../domain/jobColumns";
import type { JobOrder, JobQuery } from "../../domain/jobFilter";
import type { JobAddress } from "./useJobAddress";
import { readFirst } from "./useJobList";
import styles from "./JobsPage.module.css";

const ORDERS: readonly { readonly value: JobOrder; readonly text: string }[] = [
  { value: "recent", text: "Completion" },
  { value: "submitted", text: "Submission" },
];

interface ListToolsProps {
  readonly address: JobAddress;
  readonly query: JobQuery;
  readonly chosen: readonly Job[];
  readonly total: number | undefined;
}

export function ListTools({ address, query, chosen, total }: ListToolsProps) {
  return (
    <div className={styles.right}>
      <Segments
        label="Order"
        options={ORDERS}
        value={address.filter.order}
        onChange={(order) => {
          address.change((now) => ({ ...now, order }));
        }}
      />
      <Columns address={address} />
      <CopyAsCsv query={query} chosen={chosen} columns={address.columns} total={total} />
    </div>
  );
}

function Columns({ address: { columns, showColumns } }: Pick<ListToolsProps, "address">) {
  return (
    <div className={styles.columns}>
      <Menu label="Columns" name="Columns" side="end">
        <ul className={styles.choices}>
          {JOB_COLUMNS.filter(({ id }) => id !== "name").map(({ id, title }) => (
            <li key={id}>
              <label>
                <input
                  type="checkbox"
                  checked={columns.includes(id)}
                  onChange={({ target }) => {
                    showColumns(
                      target.checked ? [...columns, id] : columns.filter((one) => one !== id),
                    );
                  }}
                />
                {title}
              </label>
            </li>
          ))}
        </ul>
      </Menu>
    </div>
  );
}

/** More rows are for the command line and the API, which write them to a file. */
const MOST_COPIED = 1000;

interface CopyProps {
  readonly query: JobQuery;
  readonly chosen: readonly Job[];
  readonly columns: readonly string[];
  readonly total: number | undefined;
}

function CopyAsCsv({ query, chosen, columns, total = 0 }: CopyProps) {
  const queries = useQueryClient();
  const [told, setTold] = useState("");
  const copy = async () => {
    setTold("Reading …");
    const jobs = chosen.length > 0 ? chosen : await readFirst(queries, query, MOST_COPIED);
    await navigator.clipboard.writeText(jobsAsCsv(jobs, columns));
    const all = chosen.length > 0 || jobs.length >= total;
    setTold(`Copied ${all ? "" : "the first "}${jobs.length.toLocaleString("en")}`);
  };
  return (
    <>
      <span className={styles.note} role="status">
        {told}
      </span>
      <Button
        onClick={() => {
          copy().catch(() => {
            setTold("Could not be copied");
          });
        }}
      >
        Copy as CSV
      </Button>
    </>
  );
}
