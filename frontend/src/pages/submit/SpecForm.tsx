/** The fields of a spec, each with what is wrong with it; ranges can be drawn. */

import { useId, type ReactNode } from "react";

import { usePools } from "../../api/cluster";
import { useTemplates } from "../../api/rules";
import type { Validation } from "../../api/types";
import { DoubleSlider } from "../../design/DoubleSlider";
import { formatCount, humanise } from "../../domain/format";
import { fieldsOf, groupsOf, type Schemas, type SpecField } from "../../domain/specSchema";
import { entryOf, sentenceOf, valueAt, valueOf, type SpecDocument } from "../../domain/specText";
import { SpecEntry } from "./SpecEntry";
import styles from "./SubmitPage.module.css";

type Change = (path: string, value: unknown) => void;

interface SpecFormProps {
  readonly spec: SpecDocument | null;
  readonly schemas: Schemas;
  readonly teams: readonly string[];
  readonly problems: Validation["problems"];
  readonly onChange: Change;
}

const FIRST_FIELDS = ["name", "team", "template", "pool", "command"];
const MIN_WORKERS = "elastic.min_workers";
const MAX_WORKERS = "elastic.max_workers";
const MIN_BATCH = "batch.global_batch_size.min";
const BASE_BATCH = "batch.global_batch_size.base";
const MAX_BATCH = "batch.global_batch_size.max";
const DRAWN = new Set([MIN_WORKERS, MAX_WORKERS, MIN_BATCH, MAX_BATCH]);
const LARGEST_POWER = 16; // 65,536 samples at the end of the slider; more can be typed

export function SpecForm({ spec, schemas, teams, problems, onChange }: SpecFormProps) {
  const pools = usePools().data?.items ?? [];
  const shown = spec ?? {};
  const templates = useTemplates(teamOf(shown, teams)).data?.items ?? [];
  const fields = fieldsOf(schemas);
  const entry = (field: SpecField) => (
    <SpecEntry
      key={field.path}
      field={withChoices(
        field,
        teams,
        pools.map(({ name }) => name),
        templates.map(({ name }) => name),
      )}
      value={entryOf(valueAt(shown, field.path), field.kind)}
      problem={problemOf(problems, field.path)}
      onChange={(text) => {
        onChange(field.path, valueOf(text, field.kind));
      }}
    />
  );
  const named = (paths: readonly string[]) =>
    paths.flatMap((path) => fields.filter((field) => field.path === path)).map(entry);
  const others = fields.filter(
    ({ path }) => !FIRST_FIELDS.includes(path) && !DRAWN.has(path) && path !== BASE_BATCH,
  );
  const gpus = Math.max(1, ...pools.map(({ gpus_total }) => gpus_total));
  return (
    <fieldset className={styles.form} disabled={spec === null}>
      <legend className="visually-hidden">Fields of the spec</legend>
      <div className={styles.fields}>{named(FIRST_FIELDS)}</div>
      <Workers spec={shown} gpus={gpus} problems={problems} onChange={onChange} />
      <Batches spec={shown} problems={problems} onChange={onChange}>
        {named([BASE_BATCH])}
      </Batches>
      {groupsOf(others).map(({ title, fields: inside }) => (
        <details key={title} className={styles.group} open={inside.some((one) => isWrong(one))}>
          <summary>{title === "" ? "More" : humanise(title)}</summary>
          <div className={styles.fields}>{inside.map(entry)}</div>
        </details>
      ))}
    </fieldset>
  );

  function isWrong({ path }: SpecField): boolean {
    return problemOf(problems, path) !== "";
  }
}

/** For which team it is; empty: that is not said, or is none of these. */
function teamOf(spec: SpecDocument, teams: readonly string[]): string {
  const said = valueAt(spec, "team") ?? (teams.length === 1 ? teams[0] : undefined);
  return typeof said === "string" && teams.includes(said) ? said : "";
}

/** Teams for which one may submit, pools that there are, and templates are choices. */
function withChoices(
  field: SpecField,
  teams: readonly string[],
  pools: readonly string[],
  templates: readonly string[],
): SpecField {
  if (field.path === "team") return { ...field, kind: "choice", choices: teams };
  if (field.path === "pool" && pools.length > 0)
    return { ...field, kind: "choice", choices: pools };
  if (field.path === "template") return { ...field, kind: "choice", choices: templates };
  return field;
}

function problemOf(problems: Validation["problems"], path: string): string {
  const found = problems.find(({ field }) => field === path);
  return found === undefined ? "" : sentenceOf(found);
}

interface RangeProps {
  readonly spec: SpecDocument;
  readonly problems: Validation["problems"];
  readonly onChange: Change;
}

function Workers({ spec, gpus, problems, onChange }: RangeProps & { readonly gpus: number }) {
  const low = numberAt(spec, MIN_WORKERS) ?? 1;
  const high = numberAt(spec, MAX_WORKERS) ?? Math.max(1, low);
  const perWorker = numberAt(spec, "resources.gpus_per_worker") ?? 1;
  const end = Math.max(2, high, Math.floor(gpus / perWorker));
  return (
    <Range
      title="Workers"
      note={`of ${formatCount(perWorker)} GPU each`}
      paths={[MIN_WORKERS, MAX_WORKERS]}
      problems={problems}
    >
      <DoubleSlider
        name="workers"
        low={low}
        high={high}
        from={1}
        to={end}
        onLow={(value) => {
          onChange(MIN_WORKERS, value);
        }}
        onHigh={(value) => {
          onChange(MAX_WORKERS, value);
        }}
      />
    </Range>
  );
}

function Batches({
  spec,
  problems,
  onChange,
  children,
}: RangeProps & { readonly children: ReactNode }) {
  const base = numberAt(spec, BASE_BATCH);
  const low = numberAt(spec, MIN_BATCH) ?? base ?? 1;
  const high = numberAt(spec, MAX_BATCH) ?? Math.max(base ?? 1, low);
  return (
    <Range
      title="Global batch size"
      note={base === undefined ? "not said; give its base to choose a range" : ""}
      paths={[MIN_BATCH, MAX_BATCH]}
      problems={problems}
    >
      {children}
      {base !== undefined && (
        <DoubleSlider
          name="global batch size"
          low={low}
          high={high}
          from={1}
          to={Math.max(2 ** LARGEST_POWER, high)}
          isByPowers
          onLow={(value) => {
            onChange(MIN_BATCH, value);
          }}
          onHigh={(value) => {
            onChange(MAX_BATCH, value);
          }}
        />
      )}
    </Range>
  );
}

interface RangeFrameProps {
  readonly title: string;
  readonly note: string;
  readonly paths: readonly string[];
  readonly problems: Validation["problems"];
  readonly children: ReactNode;
}

function Range({ title, note, paths, problems, children }: RangeFrameProps) {
  const heading = useId();
  const wrong = paths.map((path) => problemOf(problems, path)).filter((one) => one !== "");
  return (
    <div role="group" aria-labelledby={heading} className={styles.range}>
      <h3 id={heading}>
        {title} <small>{note}</small>
      </h3>
      {children}
      {wrong.length > 0 && <p className={styles.refused}>{wrong.join(" ")}</p>}
    </div>
  );
}

function numberAt(spec: SpecDocument, path: string): number | undefined {
  const value = valueAt(spec, path);
  return typeof value === "number" && value >= 1 ? Math.round(value) : undefined;
}
