/** An address that leads nowhere, or to what this person may not see. */

import { Link } from "react-router";

import { EmptyState } from "../design/EmptyState";

export function NotFoundPage({ what = "page" }: { readonly what?: string }) {
  return (
    <EmptyState title={`There is no such ${what}`} isPage>
      <title>Not found · Concertina</title>
      <p>
        <Link to="/">Go to the overview</Link>
      </p>
    </EmptyState>
  );
}
