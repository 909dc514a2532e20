/** The accounts of the test of neighbours: one that does its worst, and one that only goes about its work. */
import { setTimeout as pause } from "node:timers/promises";
import { Record } from "effect";
import { headersOf } from "../../contract/dashboard.ts";
import { managedBy, verified } from "../../contract/site_server.ts";
import { chatKey } from "../../support/chat.ts";
import { guild, makeFixtures } from "../../support/fixtures.ts";
import { type FlowBrowser, formOf, locationOf, openBrowser } from "../../support/flow_browser.ts";
import { type Answer, type Json, listOf, makeClient, textOf } from "../../support/http.ts";
import { uploadLinks } from "../../support/link_upload.ts";
import type { RunningServer } from "../../support/server.ts";

/** How much the attacker has. */
export interface Size {
  readonly links: number;
  readonly members: number;
  readonly revokedKeys: number;
  readonly communities: number;
}

/** The guild of the attacker's role plan, and the guild of ten members whose plan the neighbour previews. */
export const [largeGuild, smallGuild] = ["700000000000000010", "700000000000000011"] as const;

/** The guild of the attacker whose list allows one chat user for each game account. */
export const oneEachGuild = "700000000000000012";

/** A role that the bot has no right to give. */
export const aboveBot = { id: "6", name: "Above the bot", assignable: false };

/** Further guilds of the attacker, each with members without a link. */
export const guildsOf = ({ communities }: Pick<Size, "communities">): ReadonlyArray<string> =>
  Array.from({ length: communities }, (_, index) => String(700_000_000_000_001n + BigInt(index)));

/** The owners of the two accounts. */
const [attackerId, neighbourId] = ["100002", "100003"] as const;

/** The dearest rules that a plan may have: each asks the game platform about each member. */
export const dearestRules = Array.from({ length: 50 }, (_, index) => ({
  roleId: verified.id,
  when: { is: "owner", item: "gamepass", itemId: String(index + 1) } as const,
}));

const settings = {
  // The limits of a day would end the attack of most routes. The limits of a second equal the limits of an installation.
  ACCOUNTLINK_IP_PER_SECOND: "20",
  ACCOUNTLINK_IP_PAGES_PER_SECOND: "60",
  ACCOUNTLINK_DASHBOARD_DAILY: "0",
  ACCOUNTLINK_SESSION_CREATE_BURST: "0",
  // Sessions outlive the proof.
  ACCOUNTLINK_SESSION_TTL: "2 hours",
  ACCOUNTLINK_POLL_INTERVAL: "0 seconds",
  ACCOUNTLINK_POLL_LIMIT: "0",
  ACCOUNTLINK_STREAM_MAX: "200 millis",
  ACCOUNTLINK_CHAT_PUBLIC_KEY: chatKey,
  ACCOUNTLINK_CHAT_COMMANDS_PER_MINUTE: "0",
  ACCOUNTLINK_REMINDERS_PER_MINUTE: "1000",
  ACCOUNTLINK_WEBHOOK_NETWORKS: "127.0.0.1/32",
};

const membersOf = (count: number, from = 300_001) =>
  Array.from({ length: count }, (_, index) => String(from + index));

const linked = (users: ReadonlyArray<string>, gameOf: (index: number) => number) =>
  Object.fromEntries(users.map((chatId, index) => [chatId, String(gameOf(index))]));

const guildOf = (
  id: string,
  owner: string,
  users: ReadonlyArray<string>,
  roles: ReadonlyArray<{ readonly id: string }> = [],
) => ({
  id,
  bot: true,
  channels: [{ id: "77", name: "log" }],
  members: [
    { chatId: owner, manager: true },
    ...users.map((chatId) => ({ chatId, nickname: "before", joined: "2024-01-01T00:00:00.000Z", roles })),
  ],
});

/** Returns the fixture and the settings of a server with both accounts, and the keys of the accounts. */
export const makeWorld = ({ links, members, revokedKeys, communities }: Size) => {
  const fixtures = makeFixtures();
  const crowd = membersOf(members);
  const attackerUsers = [attackerId, ...membersOf(links)];
  const unlinked = membersOf(20, 500_001);
  const tier = "premium" as const;
  const ofAttacker = { account: "attacker", tier, limits: "none" as const };
  fixtures.account({ name: "attacker", chatId: attackerId, tier });
  fixtures.account({ name: "neighbour", chatId: neighbourId });
  const keys = {
    attacker: fixtures.key({
      ...ofAttacker,
      // Half of the links lead to one game user, which makes the longest lists.
      links: linked(attackerUsers, (index) => (index % 2 === 0 ? 1 : (index % 9) + 1)),
      sightings: attackerUsers.slice(0, 1_000).map((chatId) => ({
        chatId,
        ip: "198.51.100.7",
        device: "one browser",
        seenAt: new Date().toISOString(),
      })),
    }),
    /** Counts against no limit, of its address either. */
    customer: fixtures.key({ ...ofAttacker, kind: "staff" }),
    attackersGuild: fixtures.key({ ...ofAttacker, guildId: largeGuild, links: linked(crowd, () => 1) }),
    attackersOneEach: fixtures.key({ ...ofAttacker, guildId: oneEachGuild, links: linked(crowd, () => 1) }),
    neighbour: fixtures.key({
      account: "neighbour",
      links: linked(["100001", ...membersOf(40, 100_001)], (index) => (index % 9) + 1),
    }),
    neighboursGuild: fixtures.key({
      account: "neighbour",
      guildId: smallGuild,
      links: linked(membersOf(10, 100_001), (index) => (index % 9) + 1),
    }),
  };
  const spares = Array.from({ length: 4 }, (_, index) => {
    const users = membersOf(links / 8, 400_001);
    return fixtures.key({ ...ofAttacker, account: `spare ${index}`, links: linked(users, () => 1) });
  });
  // Revoked keys are listed for 30 days.
  for (let count = 0; count < revokedKeys; count++) fixtures.key({ ...ofAttacker, status: "revoked" });
  const ofPlan = { rules: [{ roleId: verified.id, when: { is: "linked" as const } }], state: "on" as const };
  fixtures.plan({ account: "attacker", guildId: largeGuild, ...ofPlan });
  fixtures.plan({ account: "neighbour", guildId: smallGuild, ...ofPlan });
  const { platform } = fixtures.fixture;
  const fixture = managedBy(
    [attackerId, neighbourId],
    [verified, aboveBot],
  )({
    ...fixtures.fixture,
    platform: {
      ...platform,
      guilds: [
        ...(platform?.guilds ?? []),
        guildOf(largeGuild, attackerId, crowd),
        guildOf(smallGuild, neighbourId, membersOf(10, 100_011)),
        guildOf(oneEachGuild, attackerId, [...membersOf(10, 100_031), "500001"]),
        ...guildsOf({ communities }).map((id) => guildOf(id, attackerId, unlinked, [{ id: verified.id }])),
      ],
      // Somebody has the items of the dearest rules, so that the platform refuses no question about them.
      gameUsers: (platform?.gameUsers ?? []).map((user) => ({
        ...user,
        items: dearestRules.map(({ when: { item, itemId } }) => ({ item, itemId })),
      })),
      chatUsers: [
        ...(platform?.chatUsers ?? []),
        ...[...attackerUsers.slice(1), ...unlinked].map((id) => ({ id, username: `crowd_${id}` })),
      ],
    },
  });
  return { fixture, keys, spares, env: settings };
};

type World = ReturnType<typeof makeWorld>;

/** What the attacker's requests need to know. */
export interface Attacker {
  readonly keys: World["keys"];
  /** Keys of further accounts with many links, which each attack on all data of an account takes in turns. */
  readonly spares: World["spares"];
  /** The headers of the attacker's browsers: on the dashboard, on /me, and in steps of the public flow. */
  readonly headers: Readonly<Record<Site, Readonly<Record<string, string>>>>;
  /** The CSRF tokens of their forms. */
  readonly csrf: Readonly<Record<Site, string>>;
  /** Browsers with both proofs, each of which can confirm once. */
  readonly wholes: ReadonlyArray<Pick<Flow, "headers" | "csrf">>;
  /** The states with which the platforms redirect these browsers back. */
  readonly states: { readonly chat: string; readonly game: string };
  readonly globalPid: string;
  readonly guildPid: string;
  readonly oneEachPid: string;
  /** A key of the account that its requests do not use, and one that they may revoke. */
  readonly keyId: string;
  readonly revokedKeyId: string;
  readonly webhookId: string;
  /** A session that waits for its user, and one that its requests may cancel. */
  readonly sid: string;
  readonly cancelledSid: string;
  /** An import of which all rows but one are left out. */
  readonly importId: string;
}

interface Flow {
  readonly headers: Readonly<Record<string, string>>;
  readonly csrf: string;
  readonly state: string;
}

/**
 * `leaving` for the chat platform, `proven` there, `returning` from the game platform, `whole` with both proofs, and
 * `taken` with both, where another member has the game account.
 */
export type Site = "owner" | "user" | "leaving" | "proven" | "returning" | "whole" | "taken";

export const isOf = (scope: Json, guildId: string | null): boolean =>
  ((scope["guildId"] ?? null) as unknown) === guildId;

/** Signs a user in to a site, from an address of its own. */
export const signIn = async (
  browser: FlowBrowser,
  chatId: string,
  site: "dashboard" | "me" = "dashboard",
): Promise<void> => {
  const callback = await browser.signIn(locationOf(await browser.get(`/${site}/sign-in`)), chatId);
  const { status, headers } = await browser.get(callback);
  if (status !== 303 || headers.location !== `/${site}`) {
    throw new Error(
      `Cannot sign in to /${site}: got ${status} ${headers.location ?? ""}, expected 303 /${site}`,
    );
  }
};

let visitors = 0;

/**
 * Takes browsers through the public flow, each to another step: an earlier cookie of a flow that goes on is no good.
 *
 * @param wholes how many browsers can confirm
 */
const walkFlows = async (
  url: string,
  { globalPid: pid, oneEachPid }: Pick<Attacker, "globalPid" | "oneEachPid">,
  wholes: number,
) => {
  const walkTo = async (
    walk: (browser: FlowBrowser, chatId: string) => Promise<string | Answer>,
  ): Promise<Flow> => {
    visitors++;
    const browser = openBrowser(() => url, `198.18.202.${(visitors % 250) + 1}`);
    const reached = await walk(browser, String(100_031 + (visitors % 10)));
    browser.close();
    const csrf = typeof reached === "string" ? "" : (formOf(reached)["csrf"] ?? "");
    const state = typeof reached === "string" ? new URL(reached).searchParams.get("state") : null;
    return { headers: { cookie: cookieOf(browser), origin: url }, csrf, state: state ?? "" };
  };
  const query = `?pid=${pid}`;
  const enter = async (browser: FlowBrowser, chatId: string) =>
    browser.get(locationOf(await browser.prove("chat", chatId, query)));
  const leaving = await walkTo((browser) => browser.leave("chat", query));
  // With words, so that a check of them asks the game platform, whichever requests came before it.
  const proven = await walkTo(async (browser, chatId) => {
    const page = await enter(browser, chatId);
    return browser.post("/verify/game/words", { ...formOf(page), username: "player_1" });
  });
  const returning = await walkTo(async (browser, chatId) => {
    await enter(browser, chatId);
    return browser.leave("game");
  });
  const taken = await walkTo((browser, chatId) => browser.walk(`?pid=${oneEachPid}`, chatId, "1"));
  const confirming: Array<Flow> = [];
  for (let count = 0; count < wholes; count++)
    confirming.push(await walkTo((browser, chatId) => browser.walk(query, chatId, "2")));
  const [whole = proven] = confirming;
  const flows = { leaving, proven, returning, whole, taken };
  return {
    headers: Record.map(flows, ({ headers }) => headers),
    csrf: Record.map(flows, ({ csrf }) => csrf),
    states: { chat: leaving.state, game: returning.state },
    wholes: confirming,
  };
};

const newSession = async ({ send }: Pick<RunningServer, "send">, key: string): Promise<string> => {
  const made = await send("POST /v2/sessions", { key, from: "198.18.200.3", body: { clientId: "client" } });
  if (made.status !== 201) throw new Error(`Cannot prepare the attack: a session is ${made.text}`);
  return textOf(made.body.data?.["sid"]);
};

/** Replaces the sessions, which requests may end. */
export const withNewSessions = async (url: string, attacker: Attacker): Promise<Attacker> => {
  const client = makeClient(url);
  const [sid, cancelledSid] = [
    await newSession(client, attacker.keys.attacker),
    await newSession(client, attacker.keys.attacker),
  ];
  client.close();
  return { ...attacker, sid, cancelledSid };
};

/** Walks through the flow again, since a flow ends after some minutes, and can be confirmed once. */
export const withNewFlows = async (url: string, attacker: Attacker): Promise<Attacker> => {
  const { headers, csrf, ...flows } = await walkFlows(url, attacker, 5);
  return {
    ...attacker,
    ...flows,
    headers: { ...attacker.headers, ...headers },
    csrf: { ...attacker.csrf, ...csrf },
  };
};

const cookieOf = ({ cookies }: FlowBrowser): string =>
  [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");

/** Signs the attacker in, and makes what the requests name. */
export const makeAttacker = async (
  { url, send }: RunningServer,
  { keys, spares }: Pick<Attacker, "keys" | "spares">,
  { links }: Size,
): Promise<Attacker> => {
  const browser = openBrowser(() => url, "198.18.200.1");
  await signIn(browser, attackerId);
  await signIn(browser, attackerId, "me");
  const [dashboard, me] = [await browser.get("/dashboard/keys/new"), await browser.get("/me")];
  const csrf = { owner: formOf(dashboard)["csrf"] ?? "", user: formOf(me)["csrf"] ?? "" };
  const cookie = cookieOf(browser);
  const owner = { ...headersOf(browser, url, csrf.owner), cookie };
  const ask = async (line: `${string} ${string}`, body?: object): Promise<Json> => {
    const answer = await send(line, { headers: owner, from: "198.18.200.2", ...(body && { body }) });
    if (answer.status >= 300) throw new Error(`Cannot prepare the attack: ${line} is ${answer.text}`);
    return answer.body.data ?? {};
  };
  const scopes = listOf((await ask("GET /dashboard/api/scopes"))["scopes"]);
  const pidOf = (guildId: string | null) => textOf(scopes.find((scope) => isOf(scope, guildId))?.["pid"]);
  const [globalPid, oneEachPid] = [pidOf(null), pidOf(oneEachGuild)];
  await ask(`PATCH /dashboard/api/scopes/${oneEachPid}`, { oneChatUser: true });
  const newKey = async () => {
    const { key } = await ask("POST /dashboard/api/keys", { name: "extra", scope: "global" });
    return textOf(key?.["id"]);
  };
  const hook = { url: "https://hooks.example.com/", scope: "global" };
  const { webhook } = await ask("POST /dashboard/api/webhooks", hook);
  await ask("POST /dashboard/api/members", { chatId: "100006", role: "moderator" });
  const lines = Array.from({ length: links }, (_, index) => `${index === 0 ? attackerId : "no ID"},1`);
  const file = `discordId,robloxId\n${lines.join("\n")}\n`;
  const fields = { csrf: csrf.owner, pid: globalPid, onConflict: "keep" };
  const uploaded = locationOf(await uploadLinks(browser, fields, file));
  await until(async () => !(await browser.get(uploaded)).text.includes("<progress"), "the check of a file");
  browser.close();
  const flows = await walkFlows(url, { globalPid, oneEachPid }, 1);
  return {
    ...flows,
    keys,
    spares,
    headers: { owner, user: { cookie, origin: url }, ...flows.headers },
    csrf: { ...csrf, ...flows.csrf },
    globalPid,
    guildPid: pidOf(largeGuild),
    oneEachPid,
    keyId: await newKey(),
    revokedKeyId: await newKey(),
    webhookId: textOf(webhook?.["id"]),
    sid: await newSession({ send }, keys.attacker),
    cancelledSid: await newSession({ send }, keys.attacker),
    importId: uploaded.split("/").at(-1) ?? "",
  };
};

export const owners = { attacker: attackerId, neighbour: neighbourId };

/** A guild in which the neighbour's users are members. */
export const neighboursGuild = guild;

export const until = async (isDone: () => Promise<boolean>, what: string): Promise<void> => {
  const end = performance.now() + 60_000;
  while (!(await isDone())) {
    if (performance.now() > end) throw new Error(`Cannot go on: ${what} has not ended after a minute`);
    await pause(20);
  }
};
