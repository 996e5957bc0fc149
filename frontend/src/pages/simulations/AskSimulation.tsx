/** The form by which a simulation is asked for: which workload, under which policies, on what. */

import { useState } from "react";

import { usePools } from "../../api/cluster";
import { useSession } from "../../api/session";
import { useAskSimulation, usePolicies } from "../../api/simulations";
import type { SimulationDetail } from "../../api/types";
import { FormDialog, FormField } from "../../design/FormDialog";
import { Problem } from "../../design/Problem";
import {
  contentProblem,
  sizeProblem,
  wishOf,
  type Draft,
  type Source,
} from "../../domain/simulations";
import rows from "../../design/Rows.module.css";
import styles from "./Simulations.module.css";

interface AskSimulationProps {
  readonly draft: Draft;
  readonly onAsked: (simulation: SimulationDetail) => void;
  readonly onClose: () => void;
}

export function AskSimulation({ draft, onAsked, onClose }: AskSimulationProps) {
  const call = useAskSimulation();
  const [kind, setKind] = useState<Source>(draft.kind);
  const pools = usePools().data?.items ?? [];
  const [problem, setProblem] = useState<string | null>(null);
  const [isReading, setIsReading] = useState(false);
  const ask = async (form: FormData) => {
    const file = form.get("file");
    let content = "";
    let found = null;
    if (kind === "uploaded" && file instanceof File) {
      setIsReading(true);
      found = sizeProblem(file.size);
      if (found === null) {
        try {
          content = await file.text();
          found = contentProblem(content);
        } catch {
          found = "The file cannot be read any more. Choose it again.";
        }
      }
      setIsReading(false);
    }
    const wish = wishOf(form, content, draft.others);
    if (found === null && wish.policies.length === 0) found = "Choose at least one policy.";
    setProblem(found);
    if (found === null) call.mutate(wish, { onSuccess: onAsked });
  };
  return (
    <FormDialog
      title="New simulation"
      verb="Simulate"
      call={{
        error: problem === null ? call.error : new Error(problem),
        isPending: call.isPending || isReading,
      }}
      onSubmit={(form) => void ask(form)}
      onClose={onClose}
    >
      <SourceChoice kind={kind} onChoose={setKind} />
      {kind === "history" && (
        <FormField label="Days" note="Of all teams' jobs, up to now.">
          <input
            name="days"
            type="number"
            required
            min={0.01}
            max={90}
            step="any"
            defaultValue={draft.days}
          />
        </FormField>
      )}
      {kind === "generated" && <Recipe draft={draft} />}
      {kind === "uploaded" && (
        <FormField label="File" note="A trace of jobs, as CSV or JSON.">
          <input name="file" type="file" required />
        </FormField>
      )}
      <PolicyChoice chosen={draft.policies} />
      <div className={styles.pair}>
        <FormField label="Pool">
          <select name="pool" defaultValue={draft.pool}>
            {pools.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </FormField>
        <FormField label="GPUs more, or less" note="0: the pool as it is.">
          <input
            name="add_gpus"
            type="number"
            min={-10_000}
            max={10_000}
            defaultValue={draft.addGpus}
          />
        </FormField>
      </div>
      <FormField label="Title">
        <input
          name="title"
          maxLength={120}
          defaultValue={draft.title}
          placeholder="Named by its workload"
        />
      </FormField>
    </FormDialog>
  );
}

const SOURCES: readonly { readonly kind: Source; readonly meaning: string }[] = [
  { kind: "history", meaning: "the jobs of the last days, as they came" },
  { kind: "generated", meaning: "jobs that are made up, by how common such jobs are" },
  { kind: "uploaded", meaning: "a recording of yours" },
];

function SourceChoice(props: { readonly kind: Source; readonly onChoose: (kind: Source) => void }) {
  const isAdmin = useSession().data?.user.is_admin ?? false;
  return (
    <fieldset className={rows.choices}>
      <legend>Workload</legend>
      {SOURCES.filter(({ kind }) => isAdmin || kind !== "history").map(({ kind, meaning }) => (
        <label key={kind}>
          <input
            type="radio"
            name="kind"
            value={kind}
            checked={kind === props.kind}
            onChange={() => {
              props.onChoose(kind);
            }}
          />
          <span>{meaning}</span>
        </label>
      ))}
    </fieldset>
  );
}

const PATTERNS = { poisson: "evenly", bursty: "in bursts", daily: "by day" } as const;
const MIXES = {
  production: "short ones common, long ones rare",
  applications: "six applications in equal numbers",
  kinds: "bound by computing, by communication, between",
} as const;

function Recipe({ draft }: { readonly draft: Draft }) {
  return (
    <div className={styles.pair}>
      <FormField label="Jobs">
        <input name="jobs" type="number" required min={1} max={20_000} defaultValue={draft.jobs} />
      </FormField>
      <FormField label="Load" note="1: fills every GPU.">
        <input
          name="load"
          type="number"
          required
          min={0.01}
          max={10}
          step="any"
          defaultValue={draft.load}
        />
      </FormField>
      <FormField label="They come">
        <Options name="pattern" options={PATTERNS} chosen={draft.pattern} />
      </FormField>
      <FormField label="Which jobs">
        <Options name="mix" options={MIXES} chosen={draft.mix} />
      </FormField>
    </div>
  );
}

interface OptionsProps {
  readonly name: string;
  readonly options: Readonly<Record<string, string>>;
  readonly chosen: string;
}

function Options({ name, options, chosen }: OptionsProps) {
  return (
    <select name={name} defaultValue={chosen}>
      {Object.entries(options).map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
}

/** Policies by name; those with options are written, as an admin sets them on a pool. */
function PolicyChoice({ chosen }: { readonly chosen: readonly string[] }) {
  const found = usePolicies();
  const policies = found.data?.items;
  if (found.isLoadingError) {
    return <Problem error={found.error} onRetry={() => void found.refetch()} />;
  }
  if (policies === undefined) return null;
  const names = new Set(policies.map(({ name }) => name));
  return (
    <>
      <fieldset className={rows.choices}>
        <legend>Policies</legend>
        {policies.map(({ name, summary }) => (
          <label key={name}>
            <input
              type="checkbox"
              name="policy"
              value={name}
              defaultChecked={chosen.includes(name)}
            />
            <span>
              <strong>{name}</strong> {summary}
            </span>
          </label>
        ))}
      </fieldset>
      <FormField label="With options, as NAME:OPTION=VALUE; several apart by spaces">
        <input
          name="others"
          maxLength={400}
          defaultValue={chosen.filter((one) => !names.has(one)).join(" ")}
          placeholder="scaling_efficiency:threshold=0.2"
          spellCheck={false}
        />
      </FormField>
    </>
  );
}
