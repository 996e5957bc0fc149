/** What is said of webhooks, and what is asked when one is added or changed? */

import type { Delivery, EventKind, Webhook, WebhookChanges, WebhookWish } from "../api/types";
import { EVENT_LABELS } from "../api/vocabulary";
import { text } from "./secrets";
import { FINAL, type State, type Tone } from "./states";

export interface ShapeWords {
  readonly shape: Webhook["shape"];
  readonly name: string;
  readonly address: string; // an example of one
}

export const SHAPES: readonly ShapeWords[] = [
  { shape: "slack", name: "Slack", address: "https://hooks.slack.com/services/…" },
  { shape: "mattermost", name: "Mattermost", address: "https://chat.example.com/hooks/…" },
  { shape: "mail", name: "E-mail", address: "team@example.com" },
  { shape: "json", name: "JSON, signed, for a program", address: "https://example.com/hook" },
];

export function shapeName(shape: Webhook["shape"]): string {
  return SHAPES.find((one) => one.shape === shape)?.name.split(",")[0] ?? shape;
}

export type Occasion = "ends" | "trouble" | "all" | "asked" | "chosen";
type Told = Required<Pick<WebhookChanges, "kinds" | "states" | "is_on_request">>;

const TROUBLE: readonly EventKind[] = [
  "state_changed",
  "no_progress",
  "idle",
  "disk_filling",
  "limit_near",
  "budget_warning",
  "budget_used_up",
  "deadline_at_risk",
  "planning_failed",
];

export interface OccasionWords {
  readonly occasion: Occasion;
  readonly meaning: string;
  readonly told: Told | null; // null: what somebody chooses
}

/** Of what it is told, from the least to the most. */
export const OCCASIONS: readonly OccasionWords[] = [
  {
    occasion: "ends",
    meaning: "A job ends",
    told: { kinds: ["state_changed"], states: [...FINAL], is_on_request: false },
  },
  {
    occasion: "trouble",
    meaning: "Somebody should look: it failed, stands still, or comes near a limit",
    told: { kinds: [...TROUBLE], states: ["failed"], is_on_request: false },
  },
  {
    occasion: "asked",
    meaning: "Only what a job itself asks for, by naming it in its notify",
    told: { kinds: [], states: [], is_on_request: true },
  },
  {
    occasion: "all",
    meaning: "Whatever happens",
    told: { kinds: [], states: [], is_on_request: false },
  },
  { occasion: "chosen", meaning: "Chosen events", told: null },
];

/** Which of them it is told of. */
export function occasionOf(webhook: Pick<Webhook, "kinds" | "states" | "is_on_request">): Occasion {
  const found = OCCASIONS.find(
    ({ told }) =>
      told !== null &&
      told.is_on_request === webhook.is_on_request &&
      isSame(told.kinds, webhook.kinds) &&
      isSame(told.states, webhook.states),
  );
  return found?.occasion ?? "chosen";
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one) => others.includes(one));
}

/** In a few words, for its row. */
export function toldInWords(webhook: Pick<Webhook, "kinds" | "states" | "is_on_request">): string {
  const occasion = occasionOf(webhook);
  if (occasion !== "chosen") {
    return OCCASIONS.find((one) => one.occasion === occasion)?.meaning ?? "";
  }
  const kinds = webhook.kinds.map((kind) => labels.get(kind) ?? kind);
  const named = kinds.length === 0 ? "Whatever happens" : listed(kinds);
  const states = webhook.states.length === 0 ? "" : `, of states only ${webhook.states.join(", ")}`;
  return `${named}${states}${webhook.is_on_request ? ", if a job names it" : ""}`;
}

const MOST_NAMED = 3;
const labels: ReadonlyMap<string, string> = new Map(Object.entries(EVENT_LABELS));

function listed(words: readonly string[]): string {
  const more = words.length - MOST_NAMED;
  return words.slice(0, MOST_NAMED).join(", ") + (more > 0 ? ` and ${String(more)} more` : "");
}

export const KINDS: readonly { readonly kind: EventKind; readonly label: string }[] =
  Object.entries(EVENT_LABELS)
    .map(([kind, label]) => ({ kind: kind as EventKind, label }))
    .toSorted((one, other) => one.label.localeCompare(other.label));

/** Those to choose from; one that this release does not know, but that was chosen, stays a choice. */
export function choicesOf<Choice extends string>(
  known: readonly Choice[],
  chosen: readonly Choice[],
): readonly Choice[] {
  return [...known, ...chosen.filter((one) => !known.includes(one))];
}

/** What a form with these fields asks it to be told of; `was` says what no field asks about. */
export function toldIn(form: FormData, was: Pick<Told, "is_on_request"> | null): Told {
  const occasion = text(form, "occasion");
  const told = OCCASIONS.find((one) => one.occasion === occasion)?.told;
  if (told) return told;
  return {
    kinds: form.getAll("kind") as EventKind[],
    states: form.getAll("state") as State[],
    is_on_request: was?.is_on_request ?? false,
  };
}

export function wishOf(form: FormData, team: string | null): WebhookWish {
  const shape = SHAPES.find((one) => one.shape === text(form, "shape"))?.shape ?? "json";
  const address = text(form, "url").trim();
  const isPlainMail = shape === "mail" && !address.startsWith("mailto:");
  return {
    team,
    name: text(form, "name").trim(),
    shape,
    url: isPlainMail ? `mailto:${address}` : address,
    ...toldIn(form, null),
  };
}

export const DELIVERY_TONES: Readonly<Record<Delivery["state"], Tone>> = {
  waiting: "warning",
  delivered: "good",
  dead: "danger",
};

/** How its last try went; empty: it was not tried yet, or went well. */
export function problemOf({ tries }: Pick<Delivery, "tries">): string {
  const last = tries.at(-1);
  if (last === undefined || last.problem === "") return "";
  return last.status === null ? last.problem : `${String(last.status)}: ${last.problem}`;
}

export function kindName(kind: string): string {
  return kind === "test" ? "Test" : (labels.get(kind) ?? kind);
}
