/** What went wrong with a request, in words a person can act on? */

export interface ErrorDetail {
  readonly field?: string;
  readonly value?: unknown;
  readonly problem?: string;
  readonly remedy?: string;
}

export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: readonly ErrorDetail[];

  constructor(status: number, code: string, message: string, details: readonly ErrorDetail[] = []) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

/** Read the error envelope `{code, message, details}`; anything else still gets a sentence. */
export function errorFrom(status: number, body: unknown): ApiError {
  if (isEnvelope(body)) return new ApiError(status, body.code, body.message, body.details ?? []);
  return new ApiError(status, `http_${status}`, sentenceFor(status));
}

interface Envelope {
  readonly code: string;
  readonly message: string;
  readonly details?: readonly ErrorDetail[];
}

function isEnvelope(body: unknown): body is Envelope {
  return (
    typeof body === "object" &&
    body !== null &&
    "code" in body &&
    "message" in body &&
    typeof body.message === "string"
  );
}

function sentenceFor(status: number): string {
  if (status === 401) return "You are not signed in.";
  if (status === 403) return "You may not do this.";
  if (status === 404) return "This does not exist, or you may not see it.";
  if (status >= 500) return "The service had a problem. It will be tried again.";
  return `The service refused the request (HTTP ${status}).`;
}

/** The message of anything thrown by a request. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  return "The service does not answer. Is it running?";
}

export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

export function isUnauthenticated(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}
