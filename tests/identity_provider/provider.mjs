// A real OpenID provider for tests: whom it knows, and how it misbehaves, is told to it over HTTP.
//
// `node provider.mjs FRONTEND` listens on a free port of this machine and prints its address. PUT
// /testing/state takes {people: {SUBJECT: CLAIMS}, redirects: [ADDRESS], fault: NAME}; GET returns
// how often each of its addresses was asked.

import { createSign, generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const ids = createRequire(join(process.argv[2], "package.json"));
const { default: Provider } = await import(pathToFileURL(ids.resolve("oidc-provider")));

const state = { people: {}, redirects: [], fault: "", asked: {} };
const [own, foreign] = [0, 1].map(() => generateKeyPairSync("rsa", { modulusLength: 2048 }));
const KEY = { ...own.privateKey.export({ format: "jwk" }), kid: "one", use: "sig", alg: "RS256" };
const CLIENT = {
  client_id: "concertina",
  client_secret: "the client's secret",
  redirect_uris: ["http://127.0.0.1/replaced"],
};

const server = createServer();
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const issuer = `http://127.0.0.1:${server.address().port}`;
const provider = new Provider(issuer, {
  clients: [CLIENT],
  jwks: { keys: [KEY] },
  cookies: { keys: ["for tests"] },
  scopes: ["openid", "profile", "email"],
  claims: {
    openid: ["sub"],
    profile: ["preferred_username", "name", "groups", "realm_access"],
    email: ["email", "email_verified"],
  },
  conformIdTokenClaims: false, // claims are in the token, as those of most providers are
  features: { devInteractions: { enabled: false } },
  pkce: { required: () => true },
  ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  findAccount: (_, sub) => ({
    accountId: sub,
    claims: (use) => ({
      sub,
      ...(state.fault === "groups_elsewhere" && use === "id_token" ? {} : state.people[sub]),
    }),
  }),
  loadExistingGrant: async (ctx) => {
    const grant = new ctx.oidc.provider.Grant({
      clientId: ctx.oidc.client.clientId,
      accountId: ctx.oidc.session.accountId,
    });
    grant.addOIDCScope("openid profile email");
    await grant.save();
    return grant;
  },
});
provider.Client.prototype.redirectUriAllowed = (uri) => state.redirects.includes(uri);

const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

function signed(payload, { key = own.privateKey, header = { alg: "RS256", kid: "one" } } = {}) {
  const text = `${part(header)}.${part(payload)}`;
  const by = header.alg === "none" ? "" : createSign("sha256").update(text).sign(key, "base64url");
  return `${text}.${by}`;
}

const past = Math.floor(Date.now() / 1000) - 3600;
const faults = {
  nonce: (claims) => signed({ ...claims, nonce: "another" }),
  no_nonce: ({ nonce: _, ...claims }) => signed(claims),
  audience: (claims) => signed({ ...claims, aud: "another", azp: "concertina" }),
  issuer: (claims) => signed({ ...claims, iss: "https://another.example" }),
  expired: (claims) => signed({ ...claims, exp: past, iat: past - 600 }),
  signature: (claims) => signed(claims, { key: foreign.privateKey }),
  unsigned: (claims) => signed(claims, { header: { alg: "none", kid: "one" } }),
  no_token: () => undefined,
  no_subject: ({ sub: _, ...claims }) => signed(claims),
};

provider.use(async (ctx, next) => {
  state.asked[ctx.path] = (state.asked[ctx.path] ?? 0) + 1;
  if (state.fault === "away") ctx.throw(503);
  await next();
  if (ctx.path === "/token" && state.fault === "huge") ctx.body = { padding: "x".repeat(2 ** 20) };
  if (ctx.path === "/token" && state.fault in faults && ctx.body.id_token) {
    const claims = JSON.parse(Buffer.from(ctx.body.id_token.split(".")[1], "base64url"));
    ctx.body.id_token = faults[state.fault](claims);
  }
  if (ctx.path === "/me" && state.fault === "groups_of_another") ctx.body.sub = "another";
});

const FORM = `<!doctype html><title>Provider</title><form method="post">
<label>Who are you? <input name="login"></label><button>Continue</button></form>`;

async function body(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

server.on("request", async (request, response) => {
  const { pathname } = new URL(request.url, issuer);
  if (pathname === "/testing/state") {
    if (request.method === "PUT") Object.assign(state, JSON.parse(await body(request)));
    response.end(JSON.stringify(state.asked));
  } else if (pathname.startsWith("/interaction/") && request.method === "POST") {
    const accountId = new URLSearchParams(await body(request)).get("login");
    const result =
      accountId in state.people ? { login: { accountId } } : { error: "access_denied" };
    await provider.interactionFinished(request, response, result);
  } else if (pathname.startsWith("/interaction/")) {
    response.setHeader("Content-Type", "text/html").end(FORM);
  } else {
    provider.callback()(request, response);
  }
});
console.log(issuer);
