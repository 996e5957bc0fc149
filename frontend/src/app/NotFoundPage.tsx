/** An address that leads nowhere. */

import { Link } from "react-router";

import { EmptyState } from "../design/EmptyState";

export function NotFoundPage() {
  return (
    <EmptyState title="There is no such page">
      <title>Not found · Concertina</title>
      <p>
        <Link to="/">Go to the overview</Link>
      </p>
    </EmptyState>
  );
}
