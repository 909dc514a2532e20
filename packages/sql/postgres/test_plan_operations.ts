/** For tests: the store operations that the plan tests measure, on the rows of `test_plan_rows.ts`. */
import { ChatId, type Conflict, GameId, GuildId, KeyId, Pid, type StoreUnavailable } from "@accountlink/core";
import type { AuditFilter } from "@accountlink/core/audit";
import { type FlowId, SessionId, type SignInId } from "@accountlink/core/ids";
import type { ImportBatch } from "@accountlink/core/imports";
import { dayMs } from "@accountlink/core/timestamp";
import type { WebhookId } from "@accountlink/core/webhooks";
import { isProof } from "@accountlink/test-servers";
import { makeDelivery, makeFlow, makeSession, makeSignIn } from "@accountlink/testing";
import { type Ports, ports } from "@accountlink/testing/conformance/commands";
import { Effect, Option } from "effect";
import { account, keyId, number, pid, smallPid, waiting, windowsEnd } from "./test_plan_rows.ts";

const atOnce = { concurrency: "unbounded" } as const;
const several = <A>(length: number, make: (index: number) => A) => Array.from({ length }, (_, i) => make(i));

const scope = { kind: "global", pid, account } as const;
const origin = { actor: { type: "operator", id: "test" }, requestId: null, pid, at: 1 } as const;

const keyHashes = several(10, (i) => `hash ${`${number}${i}`.padStart(12, "0")}`);
const chatIdOf = (index: number) => ChatId.make(`${1_000_000 + number * 1_000 + index}`);
const chatIds = (length: number) => several(length, chatIdOf);
const gameIdOf = (index: number) => GameId.make(`${number * 300 + index}`);
const middle = { lastVerifiedAt: number * 1_000 + 500, chatId: chatIdOf(500) };
const blockedUser = ChatId.make(`${9_000_000 + number * 100 + 1}`);
const pair = { chatId: chatIdOf(50), otherChatId: chatIdOf(60) };
const usedKeys = several(20, (i) => KeyId.make(`${(number / 2 + i) * 10}`.padStart(12, "0")));

const sessionIdOf = (index: number) => SessionId.make(`vs_${`${index}`.padStart(43, "0")}`);
const flowOf = (index: number) => `flow ${index}` as FlowId;
const userOf = (flow: number) => ChatId.make(`${1_000_000 + flow * 50}`);
const signInOf = (index: number) => `sign-in ${index}` as SignInId;
const signInUserOf = (index: number) => ChatId.make(`${1_000_000 + index}`);

/** The flows and sign-ins of the scope begin with this number. */
const first = number * 20;

// Each flow can be completed only once, and each chat user unlinked only once, so each run takes a new flow.
let nextFlow = first;
const takeFlow = () => {
  nextFlow += 2;
  return nextFlow;
};

const webhook = `wh_${`${number}`.padStart(20, "0")}` as WebhookId;
const eventIdOf = (index: number) => `evt_${`${index}`.padStart(26, "0")}`;
const delivered = { status: "delivered", error: null, nextAttemptAt: null } as const;
const delivery = makeDelivery({ eventId: eventIdOf(200), position: 200, ...delivered });

const plan = { pid, guildId: GuildId.make(`${700_000_000 + number}`) };
const held = { ...plan, node: "other", at: 1 };
const memberIds = several(20, (i) => chatIdOf(i * 40));
const members = memberIds.map((chatId) => ({
  chatId,
  mark: 1,
  retryAt: null,
  nickname: "ada",
  problems: [],
}));

type Operation = (ports: Ports) => Effect.Effect<unknown, Conflict | StoreUnavailable>;

const dieUnless = (holds: boolean) =>
  holds ? Effect.void : Effect.die("Expected an effect of the operation");

const finds = <A extends { readonly length: number }, E>(length: number, found: Effect.Effect<A, E>) =>
  Effect.tap(found, (all) => dieUnless(all.length === length));

/** Lists audit entries of the account with a filter that matches few of these entries. */
const logWith =
  (filter: Partial<AuditFilter>): Operation =>
  ({ log }) =>
    log.list(account, null, 50, { action: null, keyId: null, ...filter });

const importOf =
  (existing: ImportBatch["existing"], file?: ImportBatch["file"]): Operation =>
  ({ imports }) =>
    imports.importBatch({
      ...origin,
      links: chatIds(20).map((chatId) => ({ chatId, gameId: gameIdOf(0), lastVerifiedAt: 9 })),
      existing,
      proof: "import",
      ...(file !== undefined && { file }),
      progress: { source: "source 1", position: 2 },
    });

const operations: Readonly<Record<string, Operation>> = {
  findByChatId: ({ links }) => links.findByChatId(pid, chatIdOf(1)),
  "findByChatId, batched": ({ links }) =>
    Effect.forEach(chatIds(32), (chatId) => links.findByChatId(pid, chatId), atOnce),
  findByChatIds: ({ links }) => links.findByChatIds(pid, chatIds(50)),
  findGamesByChatIds: ({ links }) => links.findGamesByChatIds(pid, chatIds(50)),
  findByGameIds: ({ links }) => links.findByGameIds(pid, several(10, gameIdOf)),
  "findByGameIds, batched": ({ links }) =>
    Effect.forEach(several(32, gameIdOf), (gameId) => links.findByGameIds(pid, [gameId]), atOnce),
  newestPage: ({ links }) => links.newestPage(pid, null, 50),
  "newestPage, further": ({ links }) => links.newestPage(pid, middle, 50),
  "newestPage, back": ({ links }) => links.newestPage(pid, middle, 50, "newer"),
  // The links of the scope were verified one millisecond apart, so this range contains 50 links.
  "countLinks, verified": ({ links }) =>
    links.countLinks(pid, { verified: { from: number * 1_000 + 500, before: number * 1_000 + 550 } }),
  "countLinks, enough": ({ links }) => links.countLinks(pid, { enough: 50 }),
  countWays: ({ links }) => finds(1, links.countWays(smallPid, 0)),
  exportPage: ({ links }) => links.exportPage(pid, chatIdOf(10), 50),
  setGame: ({ links }) => links.setGame({ ...origin, chatId: chatIdOf(1), gameId: gameIdOf(2) }),
  "setGame of a new chat user": ({ links }) =>
    links.setGame({ ...origin, chatId: ChatId.make("99999"), gameId: gameIdOf(2) }),
  moveChat: ({ links }) =>
    links.moveChat({ ...origin, oldChatId: chatIdOf(2), newChatId: ChatId.make("99998") }),
  removeGame: ({ links }) => links.removeGame({ ...origin, chatId: chatIdOf(3) }),
  "removeGame of a chat user with a session": ({ links }) =>
    Effect.tap(links.removeGame({ ...origin, chatId: userOf(takeFlow()) }), (removed) =>
      dieUnless(removed._tag === "Some" && removed.value.ended.length > 0),
    ),
  importBatch: importOf("replace"),
  "importBatch, kept": importOf("keep"),
  "importBatch of a file": importOf("replace", { id: "import 1", name: "links.csv", isUndoable: true }),
  "ImportStore.undoablePage": ({ imports }) => imports.undoablePage("import 2", chatIdOf(500), 20),
  "ImportStore.undo": ({ imports }) =>
    Effect.tap(imports.undo({ ...origin, id: "import 2", limit: 20 }), ({ removed }) =>
      dieUnless(removed > 0),
    ),
  importPosition: ({ imports }) => imports.importPosition("source 100"),

  ensureAccount: ({ keys }) => keys.ensureAccount({ name: account, chatId: null, tier: "free" }),
  updateAccount: ({ keys }) =>
    keys.updateAccount({ ...origin, name: account, update: { status: "suspended" } }),
  ensureScope: ({ keys }) => keys.ensureScope(account, { kind: "global" }, Pid.make("pid_none000000000000")),
  listScopes: ({ keys }) => keys.listScopes(account),
  findScopeByPid: ({ keys }) => keys.findScopeByPid(pid),
  findByHash: ({ keys }) => keys.findByHash(`hash ${keyId}`),
  "findByHash, batched": ({ keys }) => Effect.forEach(keyHashes, (hash) => keys.findByHash(hash), atOnce),
  findDetails: ({ keys }) => keys.findDetails(keyId, 0),
  findById: ({ keys }) => keys.findById(keyId),
  acceptedAmong: ({ keys }) => keys.acceptedAmong([keyId], 1),
  listKeys: ({ keys }) => keys.listKeys(account, 0),
  hasKeys: ({ keys }) => keys.hasKeys(account),
  insertKey: ({ keys }) =>
    Effect.flatMap(keys.findById(keyId), (found) => {
      const id = KeyId.make(crypto.randomUUID().replaceAll("-", "").slice(0, 12));
      return keys.insertKey({ ...origin, key: { ...Option.getOrThrow(found), id }, hash: id, maxKeys: 100 });
    }),
  rotateKey: ({ keys }) =>
    keys.rotateKey({ ...origin, id: keyId, hash: crypto.randomUUID(), previousUntil: 1 }),
  updateKey: ({ keys }) => keys.updateKey({ ...origin, id: keyId, update: { name: "Another" } }),

  "SignInStore.takeBegun": ({ signIns }) => signIns.takeBegun("dashboard", `begun ${first}`, 1),
  "SignInStore.create": ({ signIns }) =>
    signIns.create(
      makeSignIn({ chatId: signInUserOf(1), createdAt: 1, expiresAt: 9_000_000 }),
      signInOf(first - 1),
    ),
  "SignInStore.find": ({ signIns }) => signIns.find("dashboard", signInOf(first + 1), 1),
  "SignInStore.list": ({ signIns }) => signIns.list("dashboard", signInUserOf(first + 1), 1),
  "SignInStore.end": ({ signIns }) => signIns.end("dashboard", signInUserOf(first + 3), null),
  "SignInStore.sweep": ({ signIns }) => signIns.sweep(1_000_010),

  "AuditLog.list": ({ log }) => log.list(account, null, 50),
  "AuditLog.list of an action": logWith({ action: "key.rotated" }),
  "AuditLog.list of a key": logWith({ keyId, action: "key.rotated" }),
  "AuditLog.list of a chat user": logWith({ chatId: chatIdOf(1) }),

  "DayCounts.save": ({ dayCounts }) =>
    dayCounts.save(
      several(20, (i) => ({ key: `day:${i * 50}`, endsAt: windowsEnd, counted: 9 })),
      1,
    ),
  "UsageStore.add": ({ usage }) =>
    usage.add({
      meter: crypto.randomUUID(),
      sequence: 1,
      day: 20 * dayMs,
      counts: usedKeys.map((key) => ({ key, group: "lookup", served: 1, refused: 0, errors: 0 })),
      uses: usedKeys.map((key) => ({ key, at: 20 * dayMs })),
    }),
  "UsageStore.days of a key": ({ usage }) => usage.days({ key: keyId }, dayMs),
  "UsageStore.days of an account": ({ usage }) => usage.days({ account }, 16 * dayMs),
  "UsageStore.daysByKey": ({ usage }) => usage.daysByKey(account, 16 * dayMs),

  "SessionStore.create": ({ sessions }) =>
    sessions.create({
      session: makeSession({ id: keyId, scope }, { createdAt: 1, expiresAt: 1_000_000 }),
      burst: { capacity: 6, refillMs: 1 },
    }),
  "SessionStore.find": ({ sessions }) => sessions.find(sessionIdOf(first * 10 + 1)),
  changedSince: ({ sessions }) => sessions.changedSince(1_000_000 - 50, null),
  "changedSince among a few": ({ sessions }) =>
    finds(3, sessions.changedSince(1, [1, 2, 3].map(sessionIdOf))),
  advance: ({ sessions }) => sessions.advance({ id: sessionIdOf(first * 10 + 180), to: "opened", at: 1 }),
  complete: ({ sessions }) => {
    const flow = takeFlow();
    const proofs = {
      flow: flowOf(flow),
      chatId: userOf(flow),
      gameId: GameId.make("1"),
      proof: "oauth",
    } as const;
    const address = { hash: "hash", sealed: "", addressKeyId: "" };
    return Effect.tap(sessions.complete({ ...origin, ...proofs, address, browser: "browser" }), ({ _tag }) =>
      dieUnless(_tag === "Completed"),
    );
  },
  sweep: ({ sessions }) => sessions.sweep({ at: 1_000_005, sessionsBefore: 1_000_020, sightingsBefore: 20 }),
  begin: ({ flows }) => flows.begin(makeFlow(scope, { expiresAt: 1_000_000 })),
  "FlowStore.find": ({ flows }) => flows.find(flowOf(first + 1), 1),
  challenge: ({ flows }) =>
    flows.challenge({ stateHash: crypto.randomUUID(), flow: flowOf(first + 1), step: "chat", expiresAt: 9 }),
  takeChallenge: ({ flows }) => flows.takeChallenge(flowOf(first + 3), `state ${first + 3}`, 1),
  "prove, the chat account": ({ flows }) =>
    flows.prove(flowOf(first + 5), { step: "chat", chatId: userOf(first + 5) }, 1, flowOf(first + 5)),
  "prove, the game account": ({ flows }) => {
    const game = { gameId: GameId.make("2"), gameProof: "oauth" } as const;
    return flows.prove(flowOf(first + 7), { step: "game", game }, 1, flowOf(first + 7));
  },
  "FlowStore.end": ({ flows }) => flows.end(flowOf(first + 9)),

  "SightingStore.findByChatIds": ({ sightings }) =>
    finds(20, sightings.findByChatIds(pid, chatIds(20), 1_000)),
  "findShared at an address of everybody in the scope": ({ sightings }) => {
    const [including, excluding] = [chatIds(10), chatIds(5)];
    return finds(
      40,
      sightings.findShared(pid, { hashes: ["hash", "unseen"], including, excluding, limit: 30 }),
    );
  },
  countUsers: ({ sightings }) =>
    Effect.tap(sightings.countUsers(pid, [["hash", "unseen"]]), ([users = 0]) =>
      dieUnless(Math.round(users / 100) === 10),
    ),
  "AltReviewStore.findByChatId": ({ reviews }) => finds(2, reviews.findByChatId(pid, chatIdOf(100), 100)),
  "AltReviewStore.set": ({ reviews }) =>
    reviews.set({ ...origin, ...pair, verdict: "same", note: null, keyId }),
  "AltReviewStore.remove": ({ reviews }) => reviews.remove({ ...origin, ...pair }),

  "SuspectStore.ofUser": ({ suspects }) => finds(2, suspects.ofUser(chatIdOf(100))),
  "BlockStore.count": ({ blocks }) => Effect.tap(blocks.count(pid), (count) => dieUnless(count === 100)),
  "BlockStore.ofUser": ({ blocks }) => finds(1, blocks.ofUser(blockedUser)),
  "UserStore.find": ({ userStore }) => userStore.find(chatIdOf(100)),
  "UserStore.findRecords": ({ userStore }) => finds(1, userStore.findRecords(chatIdOf(100))),
  "UserStore.findSightings": ({ userStore }) => userStore.findSightings(chatIdOf(100)),
  "UserStore.entries": ({ userStore }) => userStore.entries(chatIdOf(1), null, 50),
  "UserStore.erase": ({ userStore }) => {
    const chatId = userOf(takeFlow());
    const names = { pseudonym: crypto.randomUUID(), ownerHash: "" };
    return Effect.tap(userStore.erase({ ...origin, chatId, scopes: [pid], ...names }), (erased) =>
      dieUnless(Option.isSome(erased)),
    );
  },
  "UserStore.forget": ({ userStore }) => userStore.forget(userOf(takeFlow()), "addresses"),

  "EventStore.range": ({ events }) => events.range(pid),
  "EventStore.read": ({ events }) => Effect.map(events.read(pid, 500, 50), Option.getOrThrow),
  "EventStore.readBack": ({ events }) => events.readBack(pid, 500, 50),
  "EventStore.newer": ({ events }) => events.newer([{ pid, after: 999 }]),
  "WebhookStore.find": ({ webhooks }) => webhooks.find(webhook),
  "WebhookStore.list": ({ webhooks }) => webhooks.list({ account, id: null }),
  "WebhookStore.update": ({ webhooks }) =>
    webhooks.update({ ...origin, id: webhook, change: { description: "Another" } }),
  "WebhookStore.deliveries": ({ webhooks }) =>
    webhooks.deliveries(waiting, { status: null, before: null, limit: 25 }),
  "WebhookStore.deliveries of a status": ({ webhooks }) =>
    webhooks.deliveries(webhook, { status: "failing", before: eventIdOf(900), limit: 5 }),
  "WebhookStore.look": ({ webhooks }) =>
    webhooks.look(webhook, [eventIdOf(1), eventIdOf(2)], ["lane 100", "lane 1"]),
  "WebhookStore.due": ({ webhooks }) => webhooks.due(webhook, number * 1_000 + 500, 5),
  "WebhookStore.record": ({ webhooks }) =>
    webhooks.record({
      id: webhook,
      node: "node",
      at: 1,
      position: 996,
      deliveries: [delivery],
      freedLanes: ["lane 200"],
      deliveredAt: 1,
      failedAt: null,
    }),
  "WebhookStore.recordRequested": ({ webhooks }) => {
    const attempt = { attemptedAt: 1, endedAt: 1, type: null, status: 204, error: null };
    return webhooks.recordRequested({ id: webhook, delivery, ...attempt });
  },

  "RolePlanStore.find": ({ plans }) => plans.find(plan),
  "RolePlanStore.status": ({ plans }) => plans.status(plan),
  "RolePlanStore.due": ({ plans }) => plans.due(plan, number * 1_000 + 500, 32),
  "RolePlanStore.nicknames": ({ plans }) => plans.nicknames(plan, memberIds),
  "RolePlanStore.mark": ({ plans }) =>
    plans.mark({ ...held, position: 2, chatIds: memberIds, erased: [], sweepOf: null }),
  "RolePlanStore.settle": ({ plans }) => plans.settle({ ...held, members, revision: 1, sweep: null }),
};

/**
 * The plan modes of Postgres for prepared statements. Only the proof measures custom plans, since Postgres knows more
 * when it makes them.
 */
export const modes: ReadonlyArray<string> = isProof
  ? ["force_custom_plan", "force_generic_plan"]
  : ["force_generic_plan"];

export const cases = Object.entries(operations).flatMap(([name, operation]) =>
  modes.map((mode) => ({ name, mode, operation: Effect.flatMap(ports, operation) })),
);
