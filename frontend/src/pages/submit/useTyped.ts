/** What somebody types stays as they typed it, as long as it means what the spec says. */

import { useState } from "react";

/** Without it, a line that was just begun would be gone, for it means nothing yet. */
export function useTyped(
  value: string,
  meaning: (text: string) => string,
  onChange: (text: string) => void,
): readonly [string, (text: string) => void] {
  const [typed, setTyped] = useState(value);
  const shown = meaning(typed) === value ? typed : value;
  return [
    shown,
    (text) => {
      setTyped(text);
      onChange(text);
    },
  ];
}
