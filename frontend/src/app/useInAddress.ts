/** What somebody has chosen on a page, kept in its address: it survives a reload, and can be sent. */

import { useCallback } from "react";
import { useSearchParams } from "react-router";

/** The choice of that name, empty without one, and the function that changes it. */
export function useInAddress(name: string): readonly [string, (value: string) => void] {
  const [address, setAddress] = useSearchParams();
  const change = useCallback(
    (value: string) => {
      const now = new URLSearchParams(window.location.search);
      if (value === "") now.delete(name);
      else now.set(name, value);
      setAddress(now, { replace: true });
    },
    [name, setAddress],
  );
  return [address.get(name) ?? "", change];
}
