/** Why did somebody come back from the identity provider without being signed in? */

const SENTENCES: Readonly<Record<string, (provider: string) => string>> = {
  provider_off: () => "No identity provider is set up here. Sign in with a password.",
  provider_away: (provider) =>
    `${provider} does not answer as it should. Try again soon, or tell an administrator.`,
  provider_busy: () => "Many people sign in at this moment. Try again in a few seconds.",
  provider_said_no: (provider) => `${provider} did not let you in, or you went back. Try again.`,
  nobody_vouched: () => "No proxy says who you are. Come by its address, or sign in another way.",
  sign_in_interrupted: () =>
    "The sign-in took too long, or was begun in another browser or tab. Begin again.",
  answer_invalid: (provider) =>
    `What ${provider} answered proves nothing. Try again; if it stays so, tell an administrator.`,
  not_in_a_group: (provider) =>
    `None of your groups at ${provider} may use this installation. Ask whoever manages them.`,
  mail_not_admitted: (provider) =>
    `${provider} has no confirmed mail address of yours that is let in here. Ask an administrator.`,
  too_many_groups: (provider) =>
    `${provider} names too many groups of yours. Ask an administrator to let it name fewer.`,
  account_off: () => "Your account is switched off. Ask an administrator.",
  too_many_requests: () => "There were too many attempts from your address. Wait a minute.",
};

/** The sentence for a code that the service put into the address; never a text from there. */
export function problemOf(code: string | null, provider: string | undefined): string {
  if (code === null) return "";
  const sentence = Object.hasOwn(SENTENCES, code) ? SENTENCES[code] : undefined;
  return sentence?.(provider ?? "The identity provider") ?? "You are not signed in. Try again.";
}

/** The path if it is one of this very site. */
export function localPath(wanted: string | null): string {
  return wanted !== null && /^\/(?![/\\])[^\s\\]*$/.test(wanted) ? wanted : "/";
}

/** Where a browser goes to sign in at the provider. */
export function wayTo(address: string, wanted: string): string {
  return wanted === "/" ? address : `${address}?${new URLSearchParams({ next: wanted })}`;
}
