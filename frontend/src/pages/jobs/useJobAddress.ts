/** What does the address say of the table of jobs, and how is it changed? */

import { useMemo } from "react";
import { useSearchParams } from "react-router";

import { columnsOf, namedColumns } from "../../domain/jobColumns";
import { addressOf, filterOf, type JobFilter } from "../../domain/jobFilter";

export interface JobAddress {
  readonly filter: JobFilter;
  readonly columns: readonly string[];
  readonly change: (changed: (filter: JobFilter) => JobFilter) => void;
  readonly showColumns: (columns: readonly string[]) => void;
}

export function useJobAddress(): JobAddress {
  const [address, setAddress] = useSearchParams();
  const filter = useMemo(() => filterOf(address), [address]);
  const named = address.get("columns");
  return {
    filter,
    columns: useMemo(() => columnsOf(named), [named]),
    // The address as it is by now: two changes may come before this is drawn again.
    change: (changed) => {
      const now = new URLSearchParams(window.location.search);
      setAddress(addressOf(changed(filterOf(now)), now));
    },
    showColumns: (columns) => {
      const now = new URLSearchParams(window.location.search);
      const names = namedColumns(columns);
      if (names === null) now.delete("columns");
      else now.set("columns", names);
      setAddress(now, { replace: true });
    },
  };
}
