/** What the job's workers print, as they print it. */

import type { StreamStatus } from "../../api/logStream";
import { logAddress } from "../../api/results";
import type { Job } from "../../api/types";
import { useInAddress } from "../../app/useInAddress";
import { Card } from "../../design/Card";
import { TextField } from "../../design/Field";
import { plural } from "../../domain/format";
import { filterLines, shortWorker, workersIn } from "../../domain/logs";
import { LogLines } from "./LogLines";
import { useLog } from "./useLog";
import styles from "./Logs.module.css";

const STATUS: Record<StreamStatus, string> = {
  connecting: "connecting",
  crowded: "begins once other windows are closed or hidden",
  open: "live",
  reconnecting: "reconnecting",
  ended: "complete",
  refused: "no longer allowed",
};

export function Logs({ job }: { readonly job: Job }) {
  const { lines, status } = useLog(job.id);
  const [worker, setWorker] = useInAddress("worker");
  const [text, setText] = useInAddress("log");
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
          <TextField
            type="search"
            label="Filter log lines"
            placeholder="Filter"
            value={text}
            onChange={setText}
          />
          <a
            href={logAddress(job.id, worker)}
            title={worker === "" ? "All that is kept of the log" : "All that is kept of its log"}
            download
          >
            Whole log
          </a>
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
