/** What the job handed over: a folder to look into, its files to take home. */

import { useState } from "react";

import { isNotFound } from "../../../api/errors";
import { archiveAddress, outputAddress, useOutputs } from "../../../api/results";
import type { Job, Output } from "../../../api/types";
import { Button } from "../../../design/Button";
import { Card } from "../../../design/Card";
import { EmptyState } from "../../../design/EmptyState";
import { Problem } from "../../../design/Problem";
import { SkeletonRows } from "../../../design/Skeleton";
import { RelativeTime } from "../../../design/Time";
import { crumbsOf, nameOf } from "../../../domain/folders";
import { formatBytes, NONE } from "../../../domain/format";
import { isFinal } from "../../../domain/states";
import styles from "./Outputs.module.css";

export function Outputs({ job }: { readonly job: Job }) {
  const [folder, setFolder] = useState("");
  const outputs = useOutputs(job.id, folder, !isFinal(job.state));
  const entries = outputs.data?.pages.flatMap((page) => page.items) ?? [];
  const isEmpty = outputs.data !== undefined && entries.length === 0;
  if (isEmpty && folder === "" && isFinal(job.state)) return null;
  const isGone = folder !== "" && isNotFound(outputs.error); // deleted while somebody looked
  return (
    <Card title="Outputs" isFlush actions={entries.length > 0 && <All job={job} folder={folder} />}>
      {folder !== "" && <Crumbs folder={folder} onOpen={setFolder} />}
      {outputs.isPending && <SkeletonRows rows={3} height={32} />}
      {outputs.isLoadingError && !isGone && (
        <Problem error={outputs.error} onRetry={() => void outputs.refetch()} />
      )}
      {isGone && <EmptyState title="This folder is no longer there" />}
      {isEmpty && <Empty isRoot={folder === ""} />}
      {entries.length > 0 && <Entries job={job} entries={entries} onOpen={setFolder} />}
      {outputs.hasNextPage && (
        <p className={styles.more}>
          <Button
            disabled={outputs.isFetchingNextPage}
            onClick={() => void outputs.fetchNextPage()}
          >
            Show more
          </Button>
        </p>
      )}
    </Card>
  );
}

function All({ job, folder }: { readonly job: Job; readonly folder: string }) {
  return (
    <a href={archiveAddress(job.id, folder)} download>
      Download all
    </a>
  );
}

function Empty({ isRoot }: { readonly isRoot: boolean }) {
  if (!isRoot) return <EmptyState title="This folder is empty" />;
  return (
    <EmptyState title="Nothing handed over yet">
      <p>
        What the script writes to <code>elastic.outputs()</code>, or to the folder that{" "}
        <code>CONCERTINA_OUTPUTS</code> names, stands here.
      </p>
    </EmptyState>
  );
}

interface CrumbsProps {
  readonly folder: string;
  readonly onOpen: (folder: string) => void;
}

function Crumbs({ folder, onOpen }: CrumbsProps) {
  const crumbs = crumbsOf(folder);
  return (
    <nav aria-label="Folders" className={styles.crumbs}>
      {crumbs.map((crumb) =>
        crumb.folder === folder ? (
          <span key={crumb.folder} aria-current="location">
            {crumb.name}
          </span>
        ) : (
          <button
            key={crumb.folder}
            type="button"
            className={styles.open}
            onClick={() => {
              onOpen(crumb.folder);
            }}
          >
            {crumb.name}
          </button>
        ),
      )}
    </nav>
  );
}

interface EntriesProps {
  readonly job: Job;
  readonly entries: readonly Output[];
  readonly onOpen: (folder: string) => void;
}

function Entries({ job, entries, onOpen }: EntriesProps) {
  return (
    <div className={styles.scroll}>
      <table className={styles.entries}>
        <caption className="visually-hidden">Files and folders</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Size</th>
            <th scope="col">Written</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr key={entry.path}>
              <th scope="row">
                <Name job={job} entry={entry} onOpen={onOpen} />
              </th>
              <td>{entry.is_folder ? NONE : formatBytes(entry.bytes)}</td>
              <td>
                <RelativeTime at={entry.modified_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface NameProps {
  readonly job: Job;
  readonly entry: Output;
  readonly onOpen: (folder: string) => void;
}

function Name({ job, entry, onOpen }: NameProps) {
  const name = nameOf(entry.path);
  if (!entry.is_folder) {
    return (
      <a href={outputAddress(job.id, entry.path)} title={`Download ${entry.path}`} download>
        {name}
      </a>
    );
  }
  return (
    <button
      type="button"
      className={styles.open}
      onClick={() => {
        onOpen(entry.path);
      }}
    >
      {name}/
    </button>
  );
}
