/**
 * The pages of the game platform: of a user, whose description the user changes, and of a game that knows its player, as
 * its server does. The game creates a session that names the player, and shows the code to type.
 */
import { type Html, html } from "@accountlink/pages/html";
import { Clock, Effect, type Redacted, Schema } from "effect";
import {
  FetchHttpClient,
  HttpClient,
  HttpClientRequest,
  HttpClientResponse,
  HttpRouter,
  HttpServerRequest,
  HttpServerResponse,
} from "effect/http";
import { makePages, type Pages } from "../oauth/sign_in_page.ts";
import { platformRoute, type Simulation } from "../simulation.ts";

const userOfPath = ({ platforms: { gameUsers } }: Simulation, pages: Pages, problem: string) =>
  Effect.flatMap(HttpRouter.params, ({ gameId = "" }) =>
    Effect.mapError(Effect.fromNullishOr(gameUsers.get(gameId)), () => pages.missing(problem)),
  );

export interface GameServer {
  /** A key with access `game`. */
  readonly key: Redacted.Redacted;
  readonly serviceUrl: string;
}

const Session = Schema.Struct({
  sid: Schema.String,
  state: Schema.String,
  expiresAt: Schema.String,
  code: Schema.String,
  codeUrl: Schema.String,
});

const Answer = Schema.Struct({ data: Session });

const isOpen = ({ state }: typeof Session.Type): boolean => state === "pending" || state === "opened";

/** A session may be read every two seconds. */
const refreshSeconds = 3;

/** GET shows the game to a player; POST to the same URL starts the linking. */
export const gamePage = Effect.fnUntraced(function* (
  simulation: Simulation,
  { key, serviceUrl }: GameServer,
) {
  const { guilds } = simulation.platforms;
  const pages = yield* makePages("game");
  const sessions = new Map<string, typeof Session.Type>();

  const player = userOfPath(simulation, pages, "Nobody plays here.");

  const ask = (request: HttpClientRequest.HttpClientRequest) =>
    request.pipe(
      HttpClientRequest.bearerToken(key),
      HttpClient.execute,
      Effect.flatMap(HttpClientResponse.filterStatusOk),
      Effect.flatMap(HttpClientResponse.schemaBodyJson(Answer)),
      Effect.timeout("3 seconds"),
      Effect.provide(FetchHttpClient.layer),
      Effect.map(({ data }) => data),
    );

  /** The player's current session; undefined without one, or after its time. */
  const current = Effect.fnUntraced(function* (gameId: string) {
    const known = sessions.get(gameId);
    if (known === undefined || !isOpen(known)) return known;
    if (Date.parse(known.expiresAt) <= (yield* Clock.currentTimeMillis)) return undefined;
    // A refused read, such as one that comes too early, changes nothing.
    const read = ask(HttpClientRequest.get(`${serviceUrl}/v2/sessions/${known.sid}`));
    const session = yield* Effect.orElseSucceed(read, () => known);
    sessions.set(gameId, session);
    return session;
  });

  const show = Effect.gen(function* () {
    const { id, username, displayName } = yield* player;
    const session = yield* current(id);
    const isWaiting = session !== undefined && isOpen(session);
    const name = displayName ?? username ?? id;
    const page = pages.own(
      `You play as ${name}`,
      html`<p>Nobody here is real. This is a game, and its server knows who plays.</p>
${session === undefined ? null : sessionHtml(session)}
${
  isWaiting
    ? null
    : html`<form method="post" class="line"><button>Link
${session?.state === "completed" ? "another" : "my"} chat account</button></form>`
}`,
    );
    return isWaiting ? HttpServerResponse.setHeader(page, "refresh", String(refreshSeconds)) : page;
  });

  const start = Effect.gen(function* () {
    const { id } = yield* player;
    const body = { clientId: `player-${id}`, gameId: id, guildId: [...guilds.keys()][0] };
    const created = HttpClientRequest.post(`${serviceUrl}/v2/sessions`).pipe(
      HttpClientRequest.bodyText(JSON.stringify(body), "application/json"),
    );
    const session = yield* Effect.mapError(ask(created), () =>
      pages.problem("The service made no code. Wait a moment, then try again."),
    );
    sessions.set(id, session);
    return HttpServerResponse.redirect(`/game/play/${id}`, { status: 303 });
  });

  const path = "/game/play/:gameId";
  return [platformRoute(simulation, "GET", path, show), platformRoute(simulation, "POST", path, start)];
});

const sessionHtml = (session: typeof Session.Type): Html => {
  const { state, code, codeUrl } = session;
  if (state === "completed") return html`<p>Your chat account is linked. Here are 100 coins.</p>`;
  if (!isOpen(session)) return html`<p>Your chat account was not linked.</p>`;
  return html`<p>For 100 coins, open <a href="${codeUrl}" target="_blank" rel="noopener">${codeUrl}</a> on your phone and type</p>
<h2 id="code">${code}</h2>
<p>${state === "opened" ? "You are signing in. " : null}The game waits for you.</p>`;
};

/** The longest description that the game platform accepts. */
const longest = 1_000;

/** GET shows the profile; POST to the same URL changes its description. */
export const gameUserPage = Effect.fnUntraced(function* (simulation: Simulation) {
  const { gameUsers } = simulation.platforms;
  const pages = yield* makePages("game");

  const user = userOfPath(simulation, pages, "There is no such user.");

  const show = Effect.map(user, ({ id, username, displayName, description }) =>
    pages.own(
      displayName ?? username ?? id,
      html`<p>${username === null ? null : html`@${username} · `}${id}</p>
<form method="post">
<p><label for="description">About</label></p>
<p class="line"><textarea id="description" name="description" rows="6" maxlength="${longest}">${description ?? ""}</textarea></p>
<p class="line"><button>Save</button></p>
</form>`,
    ),
  );

  const change = Effect.gen(function* () {
    const { id } = yield* user;
    const { description } = yield* HttpServerRequest.schemaBodyUrlParams(Change).pipe(
      Effect.mapError(() => pages.problem(`The form has no "description" of up to ${longest} characters.`)),
    );
    // Reads the user again, since another request may have changed the user while the form was read.
    gameUsers.set(id, { ...(yield* user), description });
    return HttpServerResponse.redirect(`/game/users/${id}`, { status: 303 });
  });

  const path = "/game/users/:gameId";
  return [platformRoute(simulation, "GET", path, show), platformRoute(simulation, "POST", path, change)];
});

const Change = Schema.Struct({ description: Schema.String.check(Schema.isMaxLength(longest)) });
