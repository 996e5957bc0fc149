/** Adding a webhook, and changing of what one is told. */

import { useState } from "react";

import { useAddWebhook, useChangeWebhook } from "../../api/webhooks";
import type { MadeWebhook, Webhook } from "../../api/types";
import { Button } from "../../design/Button";
import { FormDialog, FormField } from "../../design/FormDialog";
import { ShownOnce } from "../../design/ShownOnce";
import { STATES } from "../../domain/states";
import {
  choicesOf,
  kindName,
  KINDS,
  occasionOf,
  OCCASIONS,
  SHAPES,
  toldIn,
  wishOf,
} from "../../domain/webhooks";
import rows from "../../design/Rows.module.css";
import styles from "./Notifications.module.css";

interface AddWebhookProps {
  readonly team: string | null;
  readonly onMade: (webhook: MadeWebhook) => void;
  readonly onClose: () => void;
}

export function AddWebhook({ team, onMade, onClose }: AddWebhookProps) {
  const call = useAddWebhook();
  const [shape, setShape] = useState(SHAPES[0]);
  return (
    <FormDialog
      title={team === null ? "New webhook for all teams" : `New webhook of ${team}`}
      verb="Add"
      call={call}
      onSubmit={(form) => {
        call.mutate(wishOf(form, team), { onSuccess: onMade });
      }}
      onClose={onClose}
    >
      <FormField label="Name" note="By which jobs ask for it in their notify.">
        <input
          name="name"
          required
          maxLength={40}
          pattern="[a-z]([a-z0-9\-]*[a-z0-9])?"
          title="Lower-case letters, digits and hyphens, beginning with a letter"
          placeholder="team-channel"
          autoCapitalize="none"
          spellCheck={false}
        />
      </FormField>
      <FormField label="Sent as">
        <select
          name="shape"
          value={shape?.shape}
          onChange={({ target }) => {
            setShape(SHAPES.find((one) => one.shape === target.value));
          }}
        >
          {SHAPES.map((one) => (
            <option key={one.shape} value={one.shape}>
              {one.name}
            </option>
          ))}
        </select>
      </FormField>
      <FormField
        label={shape?.shape === "mail" ? "Mail address" : "Address"}
        note={shape?.shape === "mail" ? "Seen by leads." : "Only its host is shown later."}
      >
        <input
          name="url"
          required
          maxLength={2000}
          placeholder={shape?.address ?? ""}
          autoCapitalize="none"
          spellCheck={false}
        />
      </FormField>
      <OccasionChoice webhook={null} />
    </FormDialog>
  );
}

export function ChangeWebhook({ webhook }: { readonly webhook: Webhook }) {
  const [isOpen, setIsOpen] = useState(false);
  const call = useChangeWebhook(webhook.id);
  const close = () => {
    setIsOpen(false);
    call.reset();
  };
  return (
    <>
      <Button
        aria-label={`Change ${webhook.name}`}
        onClick={() => {
          setIsOpen(true);
        }}
      >
        Change
      </Button>
      {isOpen && (
        <FormDialog
          title={`Of what ${webhook.name} is told`}
          verb="Change"
          call={call}
          onSubmit={(form) => {
            call.mutate(toldIn(form, webhook), { onSuccess: close });
          }}
          onClose={close}
        >
          <OccasionChoice webhook={webhook} />
        </FormDialog>
      )}
    </>
  );
}

/** What is chosen event by event is asked for only by who wants that. */
function OccasionChoice({ webhook }: { readonly webhook: Webhook | null }) {
  const [occasion, setOccasion] = useState(webhook === null ? "ends" : occasionOf(webhook));
  return (
    <fieldset className={rows.choices}>
      <legend>It is told when</legend>
      {OCCASIONS.map((one) => (
        <label key={one.occasion}>
          <input
            type="radio"
            name="occasion"
            value={one.occasion}
            checked={occasion === one.occasion}
            onChange={() => {
              setOccasion(one.occasion);
            }}
          />
          <span>{one.meaning}</span>
        </label>
      ))}
      {occasion === "chosen" && (
        <div className={styles.chosen}>
          <Boxes
            name="kind"
            legend="Events; none: all"
            options={choicesOf(
              KINDS.map(({ kind }) => kind),
              webhook?.kinds ?? [],
            ).map((kind) => ({ value: kind, text: kindName(kind) }))}
            chosen={webhook?.kinds ?? []}
          />
          <Boxes
            name="state"
            legend="Of changes of state only those to; none: all"
            options={choicesOf(STATES, webhook?.states ?? []).map((state) => ({
              value: state,
              text: state,
            }))}
            chosen={webhook?.states ?? []}
          />
        </div>
      )}
    </fieldset>
  );
}

interface BoxesProps {
  readonly name: string;
  readonly legend: string;
  readonly options: readonly { readonly value: string; readonly text: string }[];
  readonly chosen: readonly string[];
}

function Boxes({ name, legend, options, chosen }: BoxesProps) {
  return (
    <fieldset className={rows.choices}>
      <legend>{legend}</legend>
      <div className={styles.boxes}>
        {options.map(({ value, text }) => (
          <label key={value}>
            <input
              type="checkbox"
              name={name}
              value={value}
              defaultChecked={chosen.includes(value)}
            />
            <span>{text}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface ShownSigningKeyProps {
  readonly webhook: MadeWebhook;
  readonly onClose: () => void;
}

export function ShownSigningKey({ webhook, onClose }: ShownSigningKeyProps) {
  return (
    <ShownOnce title={`The key of ${webhook.name}`} secret={webhook.key} onClose={onClose}>
      Messages are signed with it, so that your program can tell that they come from here.
    </ShownOnce>
  );
}
