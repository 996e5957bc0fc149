/** What the job's workers print, as they print it. */

import { useState } from "react";

import type { StreamStatus } from "../../api/logStream";
import type { Job } from "../../api/types";
import { Card } from "../../design/Card";
import { plural } from "../../domain/format";
import { filterLines, shortWorker, workersIn } from "../../domain/logs";
import { LogLines } from "./LogLines";
import { useLog } from "./useLog";
import styles from "./Logs.module.css";

const STATUS: Record<StreamStatus, string> = {
  connecting: "connecting",
  open: "live",
  reconnecting: "reconnecting",
  ended: "complete",
  refused: "no longer allowed",
};

export function Logs({ job }: { readonly job: Job }) {
  const { lines, status } = useLog(job.id);
  const [worker, setWorker] = useState("");
  const [text, setText] = useState("");
  const workers = workersIn(lines);
  const shown = filterLines(lines, { worker, text });
  return (
    <Card
      title="Logs"
      note={
        <span className={styles.status} data-status={status}>
          {STATUS[status]}, {plural(shown.length, "line")}
        </span>
      }
      actions={
        <div className={styles.tools}>
          <select
            aria-label="Worker"
            value={worker}
            onChange={(event) => {
              setWorker(event.target.value);
            }}
          >
            <option value="">All workers</option>
            {workers.map((id) => (
              <option key={id} value={id}>
                {shortWorker(id, job.id)}
              </option>
            ))}
          </select>
          <input
            type="search"
            aria-label="Filter log lines"
            placeholder="Filter"
            value={text}
            onChange={(event) => {
              setText(event.target.value);
            }}
          />
        </div>
      }
      isFlush
    >
      <LogLines
        lines={shown}
        workers={workers}
        jobId={job.id}
        isComplete={status === "ended"}
        isFiltered={worker + text !== ""}
      />
    </Card>
  );
}
