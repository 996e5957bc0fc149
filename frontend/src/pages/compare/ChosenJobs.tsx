/** Which jobs are compared, by which colour and letter, and how others are added. */

import { useState } from "react";
import { Link } from "react-router";

import { useJobsLike } from "../../api/comparison";
import type { ComparedJob } from "../../api/types";
import { StateBadge } from "../../design/Badge";
import { TextField } from "../../design/Field";
import { Menu } from "../../design/Menu";
import { RelativeTime } from "../../design/Time";
import { MOST } from "../../domain/comparison";
import { LetterMark } from "./LetterMark";
import styles from "./ComparePage.module.css";

interface ChosenJobsProps {
  readonly ids: readonly string[];
  readonly jobs: readonly ComparedJob[];
  readonly missing: readonly string[];
  readonly onChange: (ids: readonly string[]) => void;
}

export function ChosenJobs({ ids, jobs, missing, onChange }: ChosenJobsProps) {
  const without = (gone: string) => {
    onChange(ids.filter((id) => id !== gone));
  };
  return (
    <>
      <div className={styles.chosen}>
        <ul aria-label="Jobs that are compared" className={styles.chips}>
          {jobs.map((job, place) => (
            <li key={job.id} className={styles.chip}>
              <LetterMark place={place} />
              <Link to={`/jobs/${job.id}`}>{job.name}</Link>
              <StateBadge state={job.state} />
              <TakeAway
                name={job.name}
                onClick={() => {
                  without(job.id);
                }}
              />
            </li>
          ))}
        </ul>
        {ids.length < MOST && (
          <Menu label="Add a job" name="Jobs to add" side="end">
            <AddJob
              ids={ids}
              like={jobs[0]?.name ?? ""}
              onAdd={(id) => {
                onChange([...ids, id]);
              }}
            />
          </Menu>
        )}
      </div>
      {missing.length > 0 && (
        <div role="alert" className={styles.said}>
          {missing.map((id) => (
            <p key={id}>
              There is no job <code>{id}</code>, or it is of a team that you do not see.{" "}
              <TakeAway
                name={id}
                onClick={() => {
                  without(id);
                }}
              />
            </p>
          ))}
        </div>
      )}
    </>
  );
}

function TakeAway({ name, onClick }: { readonly name: string; readonly onClick: () => void }) {
  return (
    <button
      type="button"
      className={styles.away}
      aria-label={`Take ${name} away`}
      onClick={onClick}
    >
      <svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
        <path d="M1 1l8 8M9 1l-8 8" />
      </svg>
    </button>
  );
}

interface AddJobProps {
  readonly ids: readonly string[];
  /** What is looked for at first: runs of the same name. */
  readonly like: string;
  readonly onAdd: (id: string) => void;
}

function AddJob({ ids, like, onAdd }: AddJobProps) {
  const [search, setSearch] = useState(like);
  const found = useJobsLike(search);
  const jobs = (found.data?.items ?? []).filter(({ id }) => !ids.includes(id));
  return (
    <div className={styles.adding}>
      <TextField
        label="Search jobs to add"
        type="search"
        placeholder="Name, label or id"
        value={search}
        onChange={setSearch}
      />
      <ul aria-label="Jobs found">
        {jobs.map((job) => (
          <li key={job.id}>
            <button
              type="button"
              className={styles.found}
              onClick={() => {
                onAdd(job.id);
              }}
            >
              <b>{job.name}</b>
              <span>
                {job.state}, <RelativeTime at={job.finished_at ?? job.submitted_at} />
              </span>
            </button>
          </li>
        ))}
      </ul>
      {found.isSuccess && !found.isPlaceholderData && jobs.length === 0 && (
        <p role="status">
          {search === ""
            ? "There is no other job."
            : "No other job is called so. Search for part of a name."}
        </p>
      )}
      {found.isError && <p role="alert">They could not be read. Try another word.</p>}
    </div>
  );
}
