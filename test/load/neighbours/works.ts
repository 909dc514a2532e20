/** The work that the attacker starts in the background, for each resource that accounts share, and of one node for all. */
import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { SharedResource } from "@accountlink/core/turns";
import { listenLocally } from "@accountlink/test-servers";
import { verified } from "../../contract/site_server.ts";
import { formOf, locationOf, openBrowser } from "../../support/flow_browser.ts";
import { type Answer, type Json, makeClient, textOf } from "../../support/http.ts";
import { hostileFile } from "./hostile_file.ts";
import {
  type Attacker,
  aboveBot,
  dearestRules,
  guildsOf,
  largeGuild,
  owners,
  type Size,
  until,
} from "./world.ts";

export interface WorkTools {
  readonly url: string;
  readonly attacker: Attacker;
  readonly size: Size;
  /** Sends a request of the attacker's browser on the dashboard, and returns the data of the answer. */
  readonly ask: (line: `${string} ${string}`, body?: object) => Promise<Json>;
  readonly get: (path: string) => Promise<Answer>;
  readonly post: (path: string, form?: object) => Promise<Answer>;
  readonly upload: (rows: number) => Promise<Answer>;
}

/** Starts work, and returns when it has ended. */
export type Work = (tools: WorkTools) => Promise<void>;

const times = <A>(count: number, ask: () => Promise<A>): Promise<ReadonlyArray<A>> =>
  Promise.all(Array.from({ length: count }, ask));

const preview: Work = async ({ ask, attacker: { guildPid: pid } }) => {
  const place = { pid, guildId: largeGuild };
  await ask("POST /dashboard/api/roles/preview", { ...place, rules: dearestRules });
  const line = `GET /dashboard/api/roles/preview?${new URLSearchParams(place).toString()}` as const;
  await until(async () => (await ask(line))["preview"]?.["state"] !== ("running" as never), "a preview");
};

const importAndUndo: Work = async ({ get, post, upload, size }) => {
  const path = locationOf(await upload(size.links));
  await post(`${path}/start`);
  await until(async () => (await get(path)).text.includes("/undo"), "an import");
  await post(`${path}/undo`);
  await until(async () => !(await get(`${path}/undo`)).text.includes("<progress"), "an undo");
};

const block: Work = async ({ ask, attacker: { globalPid: pid } }) => {
  await ask("PUT /dashboard/api/blocks", { pid, gameId: "1", reason: null });
  const line = `GET /dashboard/api/links?${new URLSearchParams({ pid, q: "1" }).toString()}` as const;
  await until(async () => (await ask(line))["links"]?.["length"] === (0 as never), "a block");
  await ask("DELETE /dashboard/api/blocks", { pid, gameId: "1" });
};

const shown: Work = async ({ get, attacker: { globalPid } }) => {
  await times(20, () => get(`/dashboard/links?${new URLSearchParams({ pid: globalPid }).toString()}`));
};

const download: Work = async ({ get, attacker: { globalPid } }) => {
  await times(20, () => get(`/dashboard/links.csv?${new URLSearchParams({ pid: globalPid }).toString()}`));
};

const downloadOwn: Work = async ({ post, attacker: { csrf } }) => {
  await times(20, () => post("/me/export", { csrf: csrf.user }));
};

/** Turns the dearest plan on, until it has compared so many members, each by 50 answers of the game platform. */
const sweep: Work = async ({ ask, attacker: { guildPid: pid } }) => {
  const place = { pid, guildId: largeGuild };
  const enough = 100;
  await ask("PUT /dashboard/api/roles", { ...place, rules: dearestRules, state: "on" });
  const line = `GET /dashboard/api/roles?${new URLSearchParams(place).toString()}` as const;
  const statusOf = async () => (await ask(line))["plan"]?.["status"];
  await until(async () => Number((await statusOf())?.["sweep"]?.["done"]) >= enough, "part of a sweep");
  await ask("PUT /dashboard/api/roles", { ...place, rules: dearestRules, state: "paused" });
};

/** Changes all communities at once. Those that may not be compared again in this hour stay as they are. */
const change = async (
  { ask, attacker: { globalPid: pid }, size }: WorkTools,
  plan: object,
  guilds = guildsOf(size),
) => {
  const changing = guilds.map((guildId) =>
    ask("PUT /dashboard/api/roles", { pid, guildId, state: "on", ...plan }),
  );
  await Promise.allSettled(changing);
};

/** Looks seldom, since what it looks at shows all that there is. */
const untilSeen = async (isSeen: () => Promise<boolean>, what: string) =>
  until(async () => {
    await pause(1_000);
    return isSeen();
  }, what);

/** Reads a counter of the service. */
const counted = async ({ get }: WorkTools, series: string): Promise<number> => {
  const line = (await get("/metrics")).text.split("\n").find((each) => each.startsWith(`${series} `));
  return Number(line?.slice(series.length) ?? 0);
};

/** Reminds the members of many communities, until there are as many reminders as communities. */
const remind: Work = async (tools) => {
  const sent = () => counted(tools, 'accountlink_reminders_total{outcome="sent"}');
  const before = await sent();
  await change(tools, { rules: [], remindAfterDays: 1 });
  await untilSeen(async () => (await sent()) >= before + tools.size.communities, "a round of reminders");
  await change(tools, { rules: [], remindAfterDays: null });
};

/**
 * Stops the rules of every other community at once, until two more messages say so. A community has one message a day,
 * so `first`, 0 or 1, says which of them.
 */
const notify = async (tools: WorkTools, first: number, rule: object) => {
  const service = makeClient(tools.url);
  const signIn = await service.send("GET /me/sign-in", { from: "198.22.4.1" });
  const platform = makeClient(new URL(locationOf(signIn)).origin);
  const page = `GET /chat/guilds/${largeGuild}?as=${owners.attacker}` as const;
  const count = async () => (await platform.send(page)).text.split(">The bot</small>").length;
  const before = await count();
  const guilds = guildsOf(tools.size).filter((_, index) => index % 2 === first);
  await change(tools, { rules: [rule] }, guilds);
  await untilSeen(async () => (await count()) >= before + 2, "a message to the owner");
  service.close();
  platform.close();
};

/** Pauses rules by which all members would lose a role. */
const pauseRules: Work = (tools) => notify(tools, 0, { roleId: verified.id, when: { is: "linked" } });

/** Keeps a role above the bot, so that it may not give it. */
const loseRights: Work = (tools) => notify(tools, 1, { roleId: aboveBot.id, when: { is: "unlinked" } });

const detect: Work = async ({ get, attacker: { globalPid: pid } }) => {
  await times(20, () => get(`/dashboard/alts?${new URLSearchParams({ pid, gameId: "1" }).toString()}`));
};

/** Links users in the flow, which counts the alts of each. */
const verify: Work = async ({ url, attacker: { globalPid } }) => {
  const linking = Array.from({ length: 10 }, async (_, index) => {
    const browser = openBrowser(() => url, `198.22.0.${index + 1}`);
    const confirm = await browser.walk(`?pid=${globalPid}`, String(100_021 + index), "1");
    await browser.post("/verify/confirm", formOf(confirm));
    browser.close();
  });
  await Promise.all(linking);
};

const countLinks: Work = async ({ ask }) => {
  await times(20, () => ask("GET /dashboard/api/scopes"));
};

const lookUp: Work = async ({ url, attacker: { keys } }) => {
  const { send, close } = makeClient(url);
  const body = { gameIds: ["1", "2", "3"], guildId: largeGuild, resolved: true };
  const asking = Array.from({ length: 40 }, (_, index) =>
    send("POST /v2/game/bulk", { key: keys.attacker, from: `198.22.1.${index + 1}`, body }),
  );
  await Promise.all(asking);
  close();
};

/** Links users, or unlinks them, side by side. */
const setLinks = async (
  { url, attacker: { keys } }: WorkTools,
  links: ReadonlyArray<{ readonly chatId: string; readonly gameId?: string; readonly guildId?: string }>,
  key: keyof Attacker["keys"] = "attacker",
) => {
  const { send, close } = makeClient(url);
  const asking = links.map((body, index) =>
    send(body.gameId === undefined ? "DELETE /v2/game" : "PATCH /v2/game", {
      key: keys[key],
      from: `198.22.3.${(index % 250) + 1}`,
      body,
    }),
  );
  const answers = await Promise.all(asking);
  close();
  const refused = answers.find(({ status }) => status !== 200);
  if (refused !== undefined) throw new Error(`Cannot work: a write of a link is ${refused.text}`);
};

/** A game user that no row blocks. */
const gameAt = (index: number) => String((index % 6) + 2);

/** Writes of one link, which wait for each other. */
const relink: Work = (tools) =>
  setLinks(
    tools,
    Array.from({ length: 100 }, (_, index) => ({ chatId: "100002", gameId: gameAt(index) })),
  );

/** The members of the many communities that have no link. */
const newcomers = Array.from({ length: 20 }, (_, index) => String(500_001 + index));

const linkNewcomers = (tools: WorkTools) =>
  setLinks(
    tools,
    newcomers.map((chatId, index) => ({ chatId, gameId: gameAt(index) })),
  );

const unlinkNewcomers = (tools: WorkTools) =>
  setLinks(
    tools,
    newcomers.map((chatId) => ({ chatId })),
  );

/** Links and unlinks users, and waits for the messages in the logs of all communities. */
const tell: Work = async (tools) => {
  const posted = () => counted(tools, 'accountlink_log_messages_total{outcome="posted"}');
  const before = await posted();
  await change(tools, { rules: [], logChannelId: "77" });
  await linkNewcomers(tools);
  await unlinkNewcomers(tools);
  await untilSeen(async () => (await posted()) >= before + tools.size.communities, "a round of logs");
  await change(tools, { rules: [], logChannelId: null, state: "paused" });
};

/** Gives all members of many communities nicknames by the rules, and puts those from before back. */
const putBack: Work = async (tools) => {
  const { get, post, attacker, size } = tools;
  const page = `/dashboard/communities/${attacker.globalPid}/roles`;
  const kept = async (guildId: string) =>
    (await get(`${page}/nicknames.csv?guildId=${guildId}`)).text.trim().split("\n").length - 1;
  await linkNewcomers(tools);
  await change(tools, { rules: [], nickname: "{game.username}" });
  for (const guildId of guildsOf(size))
    await untilSeen(async () => (await kept(guildId)) >= newcomers.length, "a sweep of nicknames");
  await change(tools, { rules: [], nickname: null, state: "paused" });
  for (const guildId of guildsOf(size)) {
    const { status, text } = await post(page, { guildId, act: "putBack" });
    if (status !== 303) throw new Error(`Cannot work: nicknames are not put back: ${text}`);
  }
  for (const guildId of guildsOf(size))
    await untilSeen(async () => (await kept(guildId)) === 0, "nicknames that are put back");
  await unlinkNewcomers(tools);
};

/** Sends events to receivers of which half never answer. */
const sendEvents: Work = async (tools) => {
  let received = 0;
  const receiver = createServer((request, response) => {
    request.resume();
    if (request.url === "/dead") return;
    received++;
    response.end();
  });
  const port = await listenLocally(receiver);
  const newWebhook = async (path: string) => {
    const of = { url: `http://127.0.0.1:${port}${path}`, scope: "guild", guildId: largeGuild };
    const { webhook } = await tools.ask("POST /dashboard/api/webhooks", of);
    return textOf(webhook?.["id"]);
  };
  const ids = await Promise.all(["/alive", "/alive", "/dead", "/dead"].map(newWebhook));
  const links = Array.from({ length: 200 }, (_, index) => ({
    chatId: String(300_001 + (index % tools.size.members)),
    gameId: gameAt(index + Math.floor(index / 7)),
    guildId: largeGuild,
  }));
  try {
    await setLinks(tools, links, "attackersGuild");
    await until(async () => received >= links.length, "the deliveries of webhooks");
  } finally {
    // An account may have only so many webhooks, and this runs again.
    for (const id of ids) await tools.ask(`DELETE /dashboard/api/webhooks/${id}`);
    receiver.closeAllConnections();
    receiver.close();
  }
};

const visit: Work = async ({ post }) => {
  await times(20, () => post("/go", { code: "BBBB-BBBB" }));
};

const write: Work = async ({ ask, attacker: { guildPid: pid } }) => {
  const plan = { pid, guildId: largeGuild, rules: dearestRules, state: "paused" };
  await times(20, () => ask("PUT /dashboard/api/roles", plan));
};

/** Follows all events from the oldest one on. */
const follow: Work = async ({ url, attacker: { keys } }) => {
  const { send, close } = makeClient(url);
  const asking = Array.from({ length: 10 }, (_, index) =>
    send("GET /v2/events/stream?from=oldest", { key: keys.attacker, from: `198.22.2.${index + 1}` }),
  );
  await Promise.all(asking);
  close();
};

/** A row for each resource, so that a new one without a row does not compile, and for further work of one node. */
export const works: Readonly<
  Record<Exclude<SharedResource, `platform_${string}`> | "notices" | "lost_rights" | "put_back", Work>
> = {
  requests: lookUp,
  event_pages: follow,
  page_reads: shown,
  page_writes: write,
  page_visits: visit,
  visits_begun: visit,
  sign_ins_found: shown,
  link_counts: countLinks,
  exports: download,
  user_exports: downloadOwn,
  previews: preview,
  sweeps: sweep,
  alts: detect,
  new_link_alts: verify,
  import_files: importAndUndo,
  sqlite_writer: importAndUndo,
  database_connections: relink,
  block_removals: block,
  reminders: remind,
  webhooks: sendEvents,
  notices: pauseRules,
  lost_rights: loseRights,
  logs: tell,
  put_back: putBack,
};

/** Makes the attacker's browser. */
export const makeTools = (
  url: string,
  attacker: Attacker,
  size: Size,
): WorkTools & { readonly close: () => void } => {
  const { send, close } = makeClient(url);
  let asked = 0;
  const from = () => `198.21.${(asked >> 8) & 255}.${asked++ & 255}`;
  const headers = attacker.headers.owner;
  return {
    url,
    attacker,
    size,
    ask: async (line, body) => {
      const answer = await send(line, { from: from(), headers, ...(body && { body }) });
      if (answer.status >= 400) throw new Error(`Cannot work: ${line} is ${answer.text}`);
      return answer.body.data ?? {};
    },
    get: (path) => send(`GET ${path}`, { from: from(), headers }),
    post: (path, form = {}) =>
      send(`POST ${path}`, {
        from: from(),
        headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ csrf: attacker.csrf.owner, ...form }).toString(),
      }),
    upload: (rows) => {
      const { type, body } = hostileFile(attacker, rows);
      const sent = { from: from(), headers: { ...headers, "content-type": type }, body };
      return send("POST /dashboard/imports", sent);
    },
    close,
  };
};
