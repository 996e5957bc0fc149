/** A name as programs write it, `elastic.max_workers`, broken between its words, not within one. */

import { Fragment } from "react";

export function Breakable({ text }: { readonly text: string }) {
  return text.split(/(?<=[._])/).map((part, at) => (
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
