/** How does the dashboard talk to the service? Typed by the generated schema, with its CSRF token. */

import createClient, { type Middleware } from "openapi-fetch";

import { connection } from "./connection";
import { errorFrom } from "./errors";
import type { paths } from "./schema";

const SAFE_METHODS = new Set(["GET", "HEAD"]);

const reporting: Middleware = {
  onRequest({ request }) {
    if (!SAFE_METHODS.has(request.method)) {
      request.headers.set("X-CSRFToken", cookie("csrftoken"));
    }
    return request;
  },
  onResponse({ response }) {
    connection.reportAnswer(response.status);
    return response;
  },
  onError() {
    connection.reportSilence();
  },
};

export const client = createClient<paths>({ credentials: "same-origin" });
client.use(reporting);

interface Answer<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

/**
 * The data of an answer.
 *
 * @throws ApiError when the service refused.
 */
export async function unwrap<Data>(answer: Promise<Answer<Data>>): Promise<Data> {
  const { data, error, response } = await answer;
  if (!response.ok) throw errorFrom(response.status, error);
  return data as Data;
}

function cookie(name: string): string {
  const found = document.cookie.split("; ").find((entry) => entry.startsWith(`${name}=`));
  return found === undefined ? "" : decodeURIComponent(found.slice(name.length + 1));
}
