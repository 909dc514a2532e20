/**
 * Steam as the game of accountlink: the routes of docs/platforms.md, answered from Steam's Web API. Players prove the
 * account that they connected at Discord. A group's ID is the number that GetUserGroupList has, which is the ID in the group's
 * address without 103582791429521408; the groups of a private profile, and its apps, are not told, so its player has none.
 * Steam gives the key at https://steamcommunity.com/dev/apikey.
 *
 * STEAM_KEY=… GAME_TOKEN=… PORT=9000 node examples/steam_game.ts
 *
 * Node 22.18 or newer, Deno or Bun, which run TypeScript; a checkout has one as tools/node.
 *
 * ACCOUNTLINK_GAME_URL=http://127.0.0.1:9000 ACCOUNTLINK_GAME_TOKEN=… ACCOUNTLINK_GAME_NAME=Steam
 * ACCOUNTLINK_GAME_CONNECTION=steam, with the variables of Discord
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

const {
  STEAM_KEY = "",
  GAME_TOKEN = "",
  PORT = "9000",
  STEAM_API = "https://api.steampowered.com",
} = process.env;

/** Steam did not answer. The service asks again, after a 429 as late as Steam says. */
class Outage extends Error {
  readonly status: number;
  readonly retryAfter: string | null;
  constructor({ status, headers }: Response) {
    super(`Steam answered ${status}`);
    this.status = status === 429 ? 429 : 502;
    this.retryAfter = headers.get("retry-after");
  }
}

/** Asks a method of the Web API. Returns null where Steam refuses to tell a private profile. */
const ask = async <A>(method: string, asked: Record<string, string>): Promise<A | null> => {
  const query = new URLSearchParams({ key: STEAM_KEY, format: "json", ...asked });
  const response = await fetch(`${STEAM_API}/${method}/?${query}`, { signal: AbortSignal.timeout(3_000) });
  const isJson = response.headers.get("content-type")?.includes("json") === true;
  const { response: answer } = isJson ? ((await response.json().catch(() => ({}))) as { response?: A }) : {};
  if (response.ok && answer !== undefined) return answer;
  if ((answer as { success?: unknown } | undefined)?.success === false) return null;
  throw new Outage(response);
};

interface Summary {
  readonly steamid: string;
  readonly personaname: string;
  readonly profileurl: string;
  readonly avatarfull?: string;
  /** In seconds; left out by private profiles. */
  readonly timecreated?: number;
}

const isSteamId = (text: string) => /^7656119\d{10}$/.test(text);

const findUser = async (id: string) => {
  if (!isSteamId(id)) return null;
  const found = await ask<{ players: ReadonlyArray<Summary> }>("ISteamUser/GetPlayerSummaries/v2", {
    steamids: id,
  });
  const user = found?.players.find(({ steamid }) => steamid === id);
  if (user === undefined) return null;
  // Many players share a name, so what identifies a player is the name in the address of the profile, or else the ID.
  const username = /\/id\/([^/]+)/.exec(user.profileurl)?.[1] ?? id;
  const { personaname: displayName, profileurl: profileUrl, avatarfull: avatarUrl, timecreated } = user;
  const createdAt = timecreated === undefined ? null : new Date(timecreated * 1_000).toISOString();
  return { id, username, displayName, profileUrl, avatarUrl, createdAt };
};

const findByName = async (name: string) => {
  if (isSteamId(name)) return findUser(name);
  const resolved = await ask<{ success: number; steamid?: string }>("ISteamUser/ResolveVanityURL/v1", {
    vanityurl: name,
  });
  return findUser(resolved?.steamid ?? "");
};

const groupsOf = async (steamid: string) => {
  if (!isSteamId(steamid)) return null;
  const found = await ask<{ groups?: ReadonlyArray<{ gid: string }> }>("ISteamUser/GetUserGroupList/v1", {
    steamid,
  });
  return { groups: (found?.groups ?? []).map(({ gid }) => ({ id: gid })) };
};

const owns = async (steamid: string, appid: string) => {
  if (!isSteamId(steamid)) return null;
  const found = await ask<{ games?: ReadonlyArray<{ appid: number }> }>("IPlayerService/GetOwnedGames/v1", {
    steamid,
    include_played_free_games: "1",
    "appids_filter[0]": appid,
  });
  return { owned: found?.games?.some((game) => String(game.appid) === appid) ?? false };
};

/** Returns the answer to a path; null if there is nothing of that name or ID. */
const answerTo = async ({ pathname, searchParams }: URL): Promise<object | null> => {
  if (pathname === "/") return { features: ["names", "groups", "items", "ages"], items: ["app"] };
  if (pathname === "/users") return findByName(searchParams.get("username") ?? "");
  const [, kind, id = "", part, item, itemId = ""] = pathname.split("/");
  // The Web API names no groups, so a group is known by its ID alone, and nobody has a rank.
  if (kind === "groups") return /^\d{1,15}$/.test(id) ? { id, name: null, ranks: [] } : null;
  if (kind !== "users") return null;
  if (part === undefined) return findUser(id);
  if (part === "groups") return groupsOf(id);
  return part === "items" && item === "app" ? owns(id, itemId) : null;
};

const hashOf = (text: string) => createHash("sha256").update(text).digest();
const expected = hashOf(`Bearer ${GAME_TOKEN}`);

const respond = async (request: IncomingMessage, response: ServerResponse) => {
  response.setHeader("content-type", "application/json");
  if (GAME_TOKEN === "" || !timingSafeEqual(hashOf(request.headers.authorization ?? ""), expected)) {
    return response.writeHead(401).end("{}");
  }
  try {
    const answer = await answerTo(new URL(request.url ?? "/", "http://game"));
    return response.writeHead(answer === null ? 404 : 200).end(JSON.stringify(answer ?? {}));
  } catch (error) {
    // The message of a failed request could have the key in its address.
    const { status, retryAfter } = error instanceof Outage ? error : { status: 502, retryAfter: null };
    if (retryAfter !== null) response.setHeader("retry-after", retryAfter);
    return response.writeHead(status).end("{}");
  }
};

const server = createServer((request, response) => void respond(request, response));
server.listen(Number(PORT), "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`listening on port ${typeof address === "object" ? address?.port : PORT}\n`);
});
