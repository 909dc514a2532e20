/**
 * A Discord bot that gives each linked member a role and the nickname from the game, and takes both from
 * others. It lists the links once, then follows the feed, over restarts of either side.
 *
 * DISCORD_TOKEN=… GUILD_ID=… ROLE_ID=… ACCOUNTLINK_URL=… ACCOUNTLINK_KEY=alk_… node examples/role_bot.ts
 *
 * The key must be Premium, which names need. The bot needs the permissions to manage roles and nicknames,
 * and a role above the one that it gives.
 */
import { readFile, rename, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { AccountLinkError, type Client, createClient, type FollowedEvent } from "@accountlink/client";

/**
 * `discordUrl` is the address of Discord's API; `cursorFile` is the file with the bot's position in the
 * feed.
 */
export interface RoleBotSettings {
  readonly client: Client;
  readonly discordUrl: string;
  readonly token: string;
  readonly guildId: string;
  readonly roleId: string;
  readonly cursorFile: string;
}

type Member = { readonly user: { readonly id: string }; readonly roles: ReadonlyArray<string> };

const [pageLength, longestNickname] = [1_000, 32];
const say = (line: string) => process.stdout.write(`${line}\n`);

/** Keeps roles and nicknames equal to the links until the process ends. */
export const runRoleBot = async (settings: RoleBotSettings): Promise<never> => {
  const { client, discordUrl, token, guildId, roleId, cursorFile } = settings;
  const members = `/guilds/${guildId}/members`;

  /**
   * Sends a request to Discord, and waits if Discord says so. Null if the user is no member, or the name
   * may not be changed.
   */
  const discord = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(discordUrl + path, {
      method,
      headers: { authorization: `Bot ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.status === 404 || (response.status === 403 && method === "PATCH")) return null;
    if (response.status === 429) {
      await sleep(Number(response.headers.get("retry-after") ?? 1) * 1_000);
      return discord(method, path, body);
    }
    if (!response.ok) throw new Error(`Discord refused ${method} ${path} with status ${response.status}`);
    return response.status === 204 ? {} : response.json();
  };

  const give = async (chatId: string): Promise<void> => {
    const link = await client.links.get(chatId, { guildId, resolved: true }).catch(notAMember);
    const name = link?.resolved.game?.username;
    if (link === null) return take(chatId);
    await discord("PUT", `${members}/${chatId}/roles/${roleId}`);
    if (name) await discord("PATCH", `${members}/${chatId}`, { nick: name.slice(0, longestNickname) });
  };

  const take = async (chatId: string): Promise<void> => {
    // The feed no longer has the ID of an erased user.
    if (chatId === "[erased]") return;
    await discord("DELETE", `${members}/${chatId}/roles/${roleId}`);
    await discord("PATCH", `${members}/${chatId}`, { nick: null });
  };

  /** Compares every member with the links, and returns the cursor from which to follow the feed. */
  const synchronize = async (): Promise<string> => {
    const linked = new Set<string>();
    const links = client.links();
    let next = await links.next();
    for (; next.done !== true; next = await links.next()) linked.add(next.value.chatId);
    for (let after = "0"; ; ) {
      const page = (await discord(
        "GET",
        `${members}?limit=${pageLength}&after=${after}`,
      )) as ReadonlyArray<Member>;
      for (const { user, roles } of page) {
        const hasRole = roles.includes(roleId);
        if (linked.has(user.id) && !hasRole) await give(user.id);
        if (!linked.has(user.id) && hasRole) await take(user.id);
      }
      const last = page.at(-1)?.user.id;
      if (page.length < pageLength || last === undefined) break;
      after = last;
    }
    say(`${linked.size} links, all roles are right`);
    return next.value;
  };

  /**
   * Applies an event, which is harmless to do twice, and returns the cursor from which to follow the feed.
   */
  const apply = async (event: FollowedEvent): Promise<string> => {
    say(`${event.type} ${"chatId" in event.data ? (event.data.chatId ?? "") : ""}`);
    switch (event.type) {
      case "link.set":
        await give(event.data.chatId);
        break;
      case "link.moved":
        await take(event.data.previousChatId);
        await give(event.data.chatId);
        break;
      case "link.removed":
      case "user.erased":
        await take(event.data.chatId);
        break;
      case "links.imported":
      case "scope.deleted":
        return synchronize();
      default:
    }
    return event.cursor;
  };

  /** Replaces the file atomically: a bot that is stopped meanwhile finds the earlier cursor. */
  const save = async (reached: string): Promise<string> => {
    await writeFile(`${cursorFile}.new`, reached);
    await rename(`${cursorFile}.new`, cursorFile);
    return reached;
  };

  let cursor = await readFile(cursorFile, "utf8").catch(() => null);
  while (true) {
    try {
      cursor ??= await save(await synchronize());
      for await (const event of client.events({ cursor })) {
        cursor = await save(await apply(event));
        // All links were read again, so the feed continues from another cursor.
        if (cursor !== event.cursor) break;
      }
    } catch (error) {
      if (!(error instanceof AccountLinkError) || error.code !== "CONFLICT") throw error;
      // The bot was offline for longer than events are kept.
      cursor = null;
    }
  }
};

/** Treats the refusal for a user who has left the guild as no link. */
const notAMember = (error: unknown): null => {
  if (error instanceof AccountLinkError && ["FORBIDDEN", "INVALID_PARAMETER"].includes(error.code))
    return null;
  throw error;
};

if (import.meta.main) {
  const { ACCOUNTLINK_URL = "", ACCOUNTLINK_KEY, DISCORD_TOKEN = "" } = process.env;
  const { GUILD_ID = "", ROLE_ID = "" } = process.env;
  const { DISCORD_URL = "https://discord.com/api/v10", CURSOR_FILE = "role_bot.cursor" } = process.env;
  const client = createClient({ url: ACCOUNTLINK_URL, key: ACCOUNTLINK_KEY });
  const discord = { discordUrl: DISCORD_URL, token: DISCORD_TOKEN, guildId: GUILD_ID, roleId: ROLE_ID };
  await runRoleBot({ client, ...discord, cursorFile: CURSOR_FILE });
}
