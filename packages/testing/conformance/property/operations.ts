import { AuditLog, Cache, Counters, EventStore, LinkStore, Signals } from "@accountlink/core";
import { MemberStore } from "@accountlink/core/accounts";
import { AltReviewStore, SightingStore } from "@accountlink/core/alts";
import { FlowStore } from "@accountlink/core/flow";
import { IdempotencyStore } from "@accountlink/core/idempotency";
import { KeyStore } from "@accountlink/core/keys";
import { DayCounts } from "@accountlink/core/limits";
import { RootKeyStore } from "@accountlink/core/secrets";
import { SessionStore } from "@accountlink/core/sessions";
import { SignInStore } from "@accountlink/core/sign_ins";
import { UsageStore } from "@accountlink/core/usage";
import { UserStore } from "@accountlink/core/users";
import { Clock, Effect } from "effect";
import {
  makeFlow,
  makeKey,
  makeSession,
  uniqueChatId,
  uniqueFlowId,
  uniqueKeyId,
  uniquePid,
  uniqueSignInId,
  uniqueText,
} from "../../mod.ts";
import { answered, newAnswer, newRequest } from "../idempotency/idempotency_steps.ts";
import { ada, bob, chess, makeScopes, origin } from "../scopes.ts";
import { newBegun, newSignIn } from "../sign_in_store_suite.ts";
import { type OperationsOf, prefixed } from "./named_operations.ts";
import { roleOperations, webhookOperations } from "./worker_operations.ts";

export const storageOperations = Effect.gen(function* () {
  const [links, keys, log] = [yield* LinkStore, yield* KeyStore, yield* AuditLog];
  const [dayCounts, users, usage] = [yield* DayCounts, yield* UserStore, yield* UsageStore];
  const [events, members] = [yield* EventStore, yield* MemberStore];
  const nobody = uniqueChatId();
  const { account, global } = yield* makeScopes;
  const { pid } = global;
  const [key, hash] = [makeKey(global), uniqueText()];
  const at = 0;
  return {
    ...prefixed("LinkStore", {
      findByChatId: links.findByChatId(pid, ada),
      findByChatIds: links.findByChatIds(pid, [ada, bob]),
      findGamesByChatIds: links.findGamesByChatIds(pid, [ada, bob]),
      findByGameIds: links.findByGameIds(pid, [chess]),
      setGame: links.setGame({ ...origin, pid, at, chatId: ada, gameId: chess }),
      moveChat: links.moveChat({ ...origin, pid, at, oldChatId: ada, newChatId: bob }),
      removeGame: links.removeGame({ ...origin, pid, at, chatId: bob }),
      deleteScope: links.deleteScope({ ...origin, pid, at }),
      importBatch: links.importBatch({
        ...origin,
        pid,
        at,
        links: [],
        existing: "keep",
        progress: { source: pid, position: 1 },
      }),
      importPosition: links.importPosition(pid),
      countLinks: links.countLinks(pid),
      newestPage: links.newestPage(pid, { lastVerifiedAt: at, chatId: ada }, 10),
      exportPage: links.exportPage(pid, null, 10),
    } satisfies OperationsOf<LinkStore["Service"]>),
    ...prefixed("KeyStore", {
      ensureAccount: keys.ensureAccount(account),
      findAccount: keys.findAccount(account.name),
      listAccounts: keys.listAccounts(),
      updateAccount: keys.updateAccount({ ...origin, name: account.name, update: { tier: "free" }, at }),
      ensureScope: keys.ensureScope(account.name, { kind: "global" }, uniquePid()),
      findScope: keys.findScope(account.name, { kind: "global" }),
      findScopeByPid: keys.findScopeByPid(pid),
      listScopes: keys.listScopes(account.name),
      updateSettings: keys.updateSettings({ ...origin, pid, update: { displayName: "Makers" }, at }),
      insertKey: keys.insertKey({ ...origin, key, hash, maxKeys: null, at }),
      findByHash: keys.findByHash(hash),
      findById: keys.findById(key.id),
      acceptedAmong: keys.acceptedAmong([key.id], 0),
      findDetails: keys.findDetails(key.id, 0),
      listKeys: keys.listKeys(account.name, 0),
      countKeys: keys.countKeys(account.name),
      rotateKey: Effect.suspend(() =>
        keys.rotateKey({ ...origin, id: key.id, hash: uniqueText(), at, previousUntil: at }),
      ),
      updateKey: keys.updateKey({ ...origin, id: key.id, update: { name: "Another" }, at }),
    } satisfies OperationsOf<KeyStore["Service"]>),
    ...prefixed("MemberStore", {
      list: members.list(account.name),
      findByChatId: members.findByChatId(ada),
      change: members.change({
        ...origin,
        account: account.name,
        change: { type: "set_role", chatId: ada, role: "admin" },
        at,
      }),
      choose: members.choose({
        signIn: uniqueSignInId(),
        chatId: ada,
        account: account.name,
        requestId: null,
        at,
      }),
    } satisfies OperationsOf<MemberStore["Service"]>),
    ...prefixed("AuditLog", {
      list: log.list(account.name, null, 10),
      forget: log.forget(-1_000_000),
    } satisfies OperationsOf<AuditLog["Service"]>),
    ...prefixed("DayCounts", {
      save: dayCounts.save([{ key: hash, endsAt: 1, counted: 1 }], at),
      load: dayCounts.load(at),
    } satisfies OperationsOf<DayCounts["Service"]>),
    ...(yield* verificationOperations),
    ...(yield* rotationOperations),
    ...(yield* signInOperations),
    ...(yield* idempotencyOperations),
    ...prefixed("UserStore", {
      find: users.find(nobody),
      findRecords: users.findRecords(nobody),
      findSightings: users.findSightings(nobody),
      forget: users.forget(nobody, "browsers"),
      erase: users.erase({
        ...origin,
        chatId: nobody,
        at,
        scopes: [],
        pseudonym: uniqueText(),
        ownerHash: uniqueText(),
      }),
    } satisfies OperationsOf<UserStore["Service"]>),
    ...prefixed("EventStore", {
      range: events.range(pid),
      read: events.read(pid, 0, 10),
      readBack: events.readBack(pid, null, 10),
      newer: events.newer([{ pid, after: 0 }]),
      oldestAt: events.oldestAt(),
      sweep: events.sweep({ before: -1_000_000, erasuresBefore: -1_000_000 }),
    } satisfies OperationsOf<EventStore["Service"]>),
    ...(yield* webhookOperations),
    ...(yield* roleOperations),
    ...prefixed("UsageStore", {
      add: usage.add({ meter: hash, sequence: 1, day: 0, counts: [], uses: [] }),
      days: usage.days({ key: key.id }, 0),
      daysByKey: usage.daysByKey(account.name, 0),
      forget: usage.forget(-1_000_000),
    } satisfies OperationsOf<UsageStore["Service"]>),
  };
});

const verificationOperations = Effect.gen(function* () {
  const [keys, sessions, flows] = [yield* KeyStore, yield* SessionStore, yield* FlowStore];
  const { global } = yield* makeScopes;
  const key = makeKey(global);
  yield* keys.insertKey({ ...origin, key, hash: uniqueText(), maxKeys: null, at: 0 });
  const [session, flow] = [makeSession(key), makeFlow(global)];
  const { id } = session;
  yield* sessions.create({ session, burst: null });
  yield* flows.begin(flow);
  const challenge = { flow: flow.id, step: "chat", expiresAt: 9 } as const;
  const completion = {
    ...origin,
    pid: global.pid,
    at: 0,
    flow: flow.id,
    chatId: ada,
    gameId: chess,
    address: null,
    browser: null,
  };
  const burst = { capacity: 1, refillMs: 1_000 };
  return {
    ...prefixed("SessionStore", {
      create: Effect.suspend(() => sessions.create({ session: makeSession(key), burst })),
      find: sessions.find(id),
      knowsCode: sessions.knowsCode(uniqueText()),
      findSealedSid: sessions.findSealedSid(uniqueText(), 0),
      changedSince: sessions.changedSince(0, null),
      advance: sessions.advance({ id, to: "opened", at: 0 }),
      complete: sessions.complete(completion),
      recordSightings: sessions.recordSightings(global.pid, [
        { chatId: ada, address: { hash: "hash", sealed: "sealed", addressKeyId: "k1" }, seenAt: 0 },
      ]),
      sweep: sessions.sweep({ at: 0, sessionsBefore: 0, sightingsBefore: 0 }),
    } satisfies OperationsOf<SessionStore["Service"]>),
    ...prefixed("FlowStore", {
      begin: Effect.suspend(() => flows.begin(makeFlow(global))),
      find: flows.find(flow.id, 0),
      challenge: Effect.suspend(() => flows.challenge({ ...challenge, stateHash: uniqueText() })),
      takeChallenge: flows.takeChallenge(flow.id, uniqueText(), 0),
      prove: flows.prove(flow.id, { step: "chat", chatId: ada }, 0, flow.id),
      end: flows.end(uniqueFlowId()),
    } satisfies OperationsOf<FlowStore["Service"]>),
  };
});

const signInOperations = Effect.gen(function* () {
  const signIns = yield* SignInStore;
  const { id, chatId } = newSignIn();
  return prefixed("SignInStore", {
    begin: Effect.suspend(() => signIns.begin(newBegun())),
    takeBegun: signIns.takeBegun("dashboard", uniqueText(), 0),
    create: Effect.suspend(() => signIns.create(newSignIn(), id)),
    find: signIns.find("dashboard", id, 0),
    list: signIns.list("dashboard", chatId, 0),
    end: signIns.end("dashboard", chatId, null),
    sweep: signIns.sweep(0),
  } satisfies OperationsOf<SignInStore["Service"]>);
});

const idempotencyOperations = Effect.gen(function* () {
  const store = yield* IdempotencyStore;
  const request = newRequest();
  return prefixed("IdempotencyStore", {
    commit: store.commit(request, answered(Effect.void, newAnswer())),
    find: store.find(request.id),
    sweep: store.sweep(-9_000),
  } satisfies OperationsOf<IdempotencyStore["Service"]>);
});

const rotationOperations = Effect.gen(function* () {
  const [rootKeys, sightings] = [yield* RootKeyStore, yield* SightingStore];
  const reviews = yield* AltReviewStore;
  const { global } = yield* makeScopes;
  const pair = { ...origin, pid: global.pid, at: 0, chatId: ada, otherChatId: bob };
  return {
    ...prefixed("RootKeyStore", {
      adopt: rootKeys.adopt("root"),
      replace: rootKeys.replace(uniqueText(), "root"),
    } satisfies OperationsOf<RootKeyStore["Service"]>),
    ...prefixed("SightingStore", {
      findByChatIds: sightings.findByChatIds(global.pid, [ada]),
      findShared: sightings.findShared(global.pid, {
        hashes: ["hash"],
        including: [],
        excluding: [],
        limit: 1,
      }),
      countUsers: sightings.countUsers(global.pid, [["hash"]]),
      countByKey: sightings.countByKey(),
      listUnderOtherKeys: sightings.listUnderOtherKeys("k1", null, 10),
      reprotect: sightings.reprotect(global.pid, []),
    } satisfies OperationsOf<SightingStore["Service"]>),
    ...prefixed("AltReviewStore", {
      set: reviews.set({ ...pair, verdict: "same", note: null, keyId: uniqueKeyId() }),
      remove: reviews.remove(pair),
      findByChatId: reviews.findByChatId(global.pid, ada, null),
    } satisfies OperationsOf<AltReviewStore["Service"]>),
  };
});

export const countersOperations = Effect.gen(function* () {
  const counters = yield* Counters;
  const now = yield* Clock.currentTimeMillis;
  const rules = [{ key: uniqueText(), limit: 100, durationMs: 60_000 }];
  return prefixed("Counters", {
    admit: counters.admit(rules, now),
    read: counters.read(rules, now),
  } satisfies OperationsOf<Counters["Service"]>);
});

export const cacheOperations = Effect.gen(function* () {
  const cache = yield* Cache;
  const now = yield* Clock.currentTimeMillis;
  const key = uniqueText();
  return prefixed("Cache", {
    get: cache.get(key, now),
    set: cache.set(key, "value", now + 60_000, now),
  } satisfies OperationsOf<Cache["Service"]>);
});

export const signalsOperations = Effect.gen(function* () {
  const signals = yield* Signals;
  const topic = uniqueText();
  return prefixed("Signals", {
    publish: signals.publish(topic, "message"),
    subscribe: signals.subscribe(topic),
  } satisfies OperationsOf<Signals["Service"]>);
});
