/** Type a part of a name, and go there: pages, teams, nodes, and every job there ever was. */

import { Command } from "cmdk";
import { useEffect, useRef, useState } from "react";
import { useNavigate } from "react-router";

import { usePools, useTeams } from "../../api/cluster";
import { useJobsLike } from "../../api/comparison";
import type { Session } from "../../api/types";
import { matching, nodePages, pagesFor, teamPages, type Destination } from "./destinations";
import styles from "./Palette.module.css";

const PAUSE_MILLISECONDS = 200; // in typing, before the service is asked
const MOST_PAGES = 12;
const MOST_TEAMS = 6;
const MOST_NODES = 6;

interface PaletteProps {
  readonly user: Session["user"];
  readonly onClose: () => void;
}

export default function Palette({ user, onClose }: PaletteProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const [search, setSearch] = useState("");
  const navigate = useNavigate();
  useEffect(() => {
    dialog.current?.showModal();
    input.current?.focus(); // or else what is around it gets what is typed
  }, []);
  const go = ({ to, isOutside = false }: Destination) => {
    onClose();
    if (isOutside) window.location.assign(to);
    else void navigate(to);
  };
  return (
    <dialog
      ref={dialog}
      className={styles.palette}
      aria-label="Go to"
      onClose={onClose}
      closedby="any"
    >
      <Command label="Go to" shouldFilter={false} loop className={styles.command}>
        <Command.Input
          ref={input}
          value={search}
          onValueChange={setSearch}
          placeholder="Job, team, node or page"
          className={styles.input}
          maxLength={100}
        />
        <Command.List className={styles.list}>
          <Found user={user} search={search} onChoose={go} />
        </Command.List>
      </Command>
    </dialog>
  );
}

interface FoundProps {
  readonly user: Session["user"];
  readonly search: string;
  readonly onChoose: (where: Destination) => void;
}

function Found({ user, search, onChoose }: FoundProps) {
  const teams = useTeams().data?.items ?? [];
  const isTyped = search.trim() !== "";
  const pages = matching(pagesFor(user), search, MOST_PAGES);
  const ofTeams = matching(teamPages(teams), search, MOST_TEAMS);
  return (
    <>
      {isTyped && <Jobs search={search.trim()} onChoose={onChoose} />}
      <Places heading="Pages" places={pages} onChoose={onChoose} />
      <Places heading="Teams" places={ofTeams} onChoose={onChoose} />
      {isTyped && <Nodes search={search} onChoose={onChoose} />}
    </>
  );
}

/** There may be a thousand, so they are read only when something is looked for. */
function Nodes({ search, onChoose }: Omit<FoundProps, "user">) {
  const pools = usePools().data?.items ?? [];
  const nodes = matching(nodePages(pools), search, MOST_NODES);
  return <Places heading="Nodes" places={nodes} onChoose={onChoose} />;
}

function Jobs({ search, onChoose }: Omit<FoundProps, "user">) {
  const asked = useSettled(search);
  const found = useJobsLike(asked);
  const jobs = (found.data?.items ?? []).map(({ id, name, team, state }) => ({
    name,
    about: `${team}, ${state}`,
    to: `/jobs/${id}`,
  }));
  if (found.isError) return <p className={styles.note}>Jobs could not be read. Try again.</p>;
  const isSettled = found.isSuccess && !found.isPlaceholderData && asked === search;
  if (isSettled && jobs.length === 0) {
    return <p className={styles.note}>No job is called so, nor has such a label.</p>;
  }
  return <Places heading="Jobs" places={jobs} onChoose={onChoose} />;
}

interface PlacesProps {
  readonly heading: string;
  readonly places: readonly Destination[];
  readonly onChoose: (where: Destination) => void;
}

function Places({ heading, places, onChoose }: PlacesProps) {
  if (places.length === 0) return null;
  return (
    <Command.Group heading={heading} className={styles.group}>
      {places.map((place) => (
        <Command.Item
          key={place.to}
          value={place.to}
          className={styles.item}
          onSelect={() => {
            onChoose(place);
          }}
        >
          <span className={styles.name}>{place.name}</span>
          <span className={styles.about}>{place.about}</span>
        </Command.Item>
      ))}
    </Command.Group>
  );
}

/** What was typed, once nobody has typed for a moment. */
function useSettled(search: string): string {
  const [settled, setSettled] = useState(search);
  useEffect(() => {
    const timer = setTimeout(() => {
      setSettled(search);
    }, PAUSE_MILLISECONDS);
    return () => {
      clearTimeout(timer);
    };
  }, [search]);
  return settled;
}
