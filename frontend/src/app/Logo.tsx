/** The mark: a bellows between two boards. */

export function Logo() {
  return (
    <svg width="26" height="26" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="var(--accent)" />
      <g
        fill="none"
        stroke="var(--on-accent)"
        strokeWidth="2.4"
        strokeLinecap="round"
        strokeLinejoin="round"
      >
        <path d="M6.5 9v14M25.5 9v14" />
        <path d="M10 11.5l3 9 3-9 3 9 3-9" />
      </g>
    </svg>
  );
}
