/**
 * The platforms of a peer: played in its own process, as the real server's dev platform is, asked over HTTP, and their
 * answers trusted for as long.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { platformFixture } from "../fixture.ts";
import type { Eventual } from "./ports.ts";

const { guilds, gameUsers } = platformFixture().platform;
const paths = new Set([
  ...guilds.map(({ id }) => `/guilds/${id}`),
  ...guilds.flatMap(({ id, members }) => members.map(({ chatId }) => `/guilds/${id}/members/${chatId}`)),
  ...gameUsers.map(({ id }) => `/users/${id}`),
]);

const played = createServer((request, response) => {
  response.writeHead(paths.has(request.url ?? "") ? 200 : 404, { "content-type": "application/json" });
  response.end(`{"path":${JSON.stringify(request.url)}}`);
});
await new Promise<void>((resolve) => played.listen(0, "127.0.0.1", resolve));
played.unref();
const url = `http://127.0.0.1:${(played.address() as AddressInfo).port}`;

interface Known {
  readonly exists: Eventual<boolean>;
  readonly freshUntil: number;
}

const known = new Map<string, Known>();

/** How long that something does not exist is trusted, in milliseconds. */
const absenceFreshness = 1_000;

const ask = async (path: string, freshness: number): Promise<boolean> => {
  try {
    const response = await fetch(url + path);
    await response.arrayBuffer();
    const exists = response.ok;
    known.set(path, { exists, freshUntil: Date.now() + (exists ? freshness : absenceFreshness) });
    return exists;
  } catch (error) {
    known.delete(path);
    throw error;
  }
};

const exists = (path: string, freshness: number): Eventual<boolean> => {
  const now = Date.now();
  const last = known.get(path);
  if (last !== undefined && last.freshUntil > now) return last.exists;
  const asked = ask(path, freshness);
  known.set(path, { exists: asked, freshUntil: now + freshness });
  return asked;
};

setInterval(() => {
  for (const [path, { freshUntil }] of known) if (freshUntil <= Date.now()) known.delete(path);
}, 60_000).unref();

/** Whether the bot is in a guild. */
export const hasGuild = (guildId: string) => exists(`/guilds/${guildId}`, 10_000);
export const hasMember = (guildId: string, chatId: string) =>
  exists(`/guilds/${guildId}/members/${chatId}`, 5_000);
export const hasGameUser = (gameId: string) => exists(`/users/${gameId}`, 30_000);
