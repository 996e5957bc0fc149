/** Changing all rules of a team as one text: what is left out is taken away. */

import { useState } from "react";

import { useChangeRules } from "../../../api/rules";
import type { RulesBody, TeamRules } from "../../../api/types";
import { FormDialog } from "../../../design/FormDialog";
import { textOfRules } from "../../../domain/rules";
import { readText } from "../../../domain/specText";
import { YamlField } from "./YamlField";
import styles from "./Rules.module.css";

const NOTHING = { defaults: null, bounds: null, labels: null, pools: null, modes: null };
const EXAMPLE = `defaults:
  max_duration: 12h
bounds:
  gpus: {most: 16}
labels:
  stage: {values: [dev, prod]}`;

interface RulesFormProps {
  readonly found: TeamRules;
  readonly onClose: () => void;
}

export function RulesForm({ found, onClose }: RulesFormProps) {
  const [begun] = useState(found); // what was read when the form was opened
  const [text, setText] = useState(() => textOfRules(begun.rules));
  const call = useChangeRules(begun.team, begun.version);
  const { spec, problem } = readText(text);
  return (
    <FormDialog
      title={`Rules of team ${begun.team}`}
      verb="Set rules"
      call={call}
      onClose={onClose}
      onSubmit={(form) => {
        if (spec === null) return;
        const lock = begun.may_lock ? { is_locked: form.get("is_locked") === "on" } : {};
        const body = { ...NOTHING, ...spec, ...lock } as RulesBody;
        call.mutate(body, { onSuccess: onClose });
      }}
    >
      <p>
        Parts are <code>defaults</code>, <code>bounds</code>, <code>labels</code>,{" "}
        <code>pools</code> and <code>modes</code>. Jobs that are there stay as they are.
      </p>
      <YamlField
        label="Rules as YAML"
        text={text}
        problem={problem}
        example={EXAMPLE}
        onChange={setText}
      />
      {begun.may_lock && (
        <label className={styles.sure}>
          <input type="checkbox" name="is_locked" defaultChecked={begun.is_locked} />
          Leads of the team itself may not change them
        </label>
      )}
    </FormDialog>
  );
}
