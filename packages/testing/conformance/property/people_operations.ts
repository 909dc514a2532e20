/** Operations on stored data about people: members, sign-ins, sightings, reviews, requests and erasures. */

import { Pid } from "@accountlink/core";
import { type Member, type MemberRole, type MemberStore } from "@accountlink/core/accounts";
import type {
  AltReviewStore,
  AltVerdict,
  SightingStore,
  Suspect,
  SuspectStore,
} from "@accountlink/core/alts";
import type { AuditEntry } from "@accountlink/core/audit";
import type { IdempotencyStore } from "@accountlink/core/idempotency";
import type { SessionStore } from "@accountlink/core/sessions";
import type { SignInSite, SignInStore } from "@accountlink/core/sign_ins";
import type { UserStore } from "@accountlink/core/users";
import { Effect } from "effect";
import * as FastCheck from "fast-check";
import { makeBegunSignIn, makeSignIn, uniqueText } from "../../mod.ts";
import { ada, bob, chess, dan, poker } from "../scopes.ts";
import { at, fixed, index, maybe, mostly, type OperationsOf, operation, scope } from "./operation.ts";
import { nth } from "./subjects.ts";
import { limit as mostHeld } from "./worker_operations.ts";

const { array, boolean, constantFrom, nat } = FastCheck;

const person = index;
const signIn = index;
const site = mostly<SignInSite>("dashboard", "me");
/** Mostly one person, who has several sign-ins that have not ended. */
const visitor = mostly(0, 1);
const signInEnd = mostly(9, 0, 1, 2, 3);
const challenge = nat(1);

/** The owner of an account became a member at the current time, which differs between runs. */
const timeless = <M extends Pick<Member, "since" | "chosenAt">>({ since, chosenAt, ...member }: M) => ({
  ...member,
  since: Math.min(since, 9),
  chosenAt: chosenAt && Math.min(chosenAt, 9),
});

export const memberOperations = {
  "MemberStore.change": operation(
    6,
    {
      person,
      type: constantFrom("add", "add", "set_role", "remove", "decline"),
      role: constantFrom<MemberRole>("owner", "admin", "moderator"),
      scopes: constantFrom(undefined, null, [Pid.make(`pid_${"1".repeat(16)}`)]),
      by: maybe(person),
      at,
    },
    ({ members, account, people, write }, { type, role, scopes, by, ...input }) => {
      const chatId = nth(people, input.person);
      const actor = by && ({ type: "account", id: account.name, member: nth(people, by) } as const);
      const given = scopes === undefined ? {} : { scopes };
      const change =
        type === "add" || type === "set_role" ? { type, chatId, role, ...given } : { type, chatId };
      return members.change({ ...write, ...(actor && { actor }), account: account.name, change });
    },
  ),
  "MemberStore.choose": operation(
    3,
    { signIn, person, at },
    ({ members, account, people, signInIds, write }, input) =>
      members.choose({
        signIn: nth(signInIds, input.signIn),
        chatId: nth(people, input.person),
        account: account.name,
        requestId: null,
        at: write.at,
      }),
  ),
  "MemberStore.list": operation(1, {}, ({ members, account }) =>
    Effect.map(members.list(account.name), (all) => all.map(timeless)),
  ),
  "MemberStore.findByChatId": operation(1, { person }, ({ members, people }, input) =>
    Effect.map(members.findByChatId(nth(people, input.person)), (all) => all.map(timeless)),
  ),

  "SignInStore.begin": operation(2, { challenge, site, expiresAt: at }, ({ signIns, challenges }, input) => {
    const stateHash = nth(challenges, input.challenge);
    return signIns.begin(makeBegunSignIn({ stateHash, site: input.site, expiresAt: input.expiresAt }));
  }),
  "SignInStore.takeBegun": operation(2, { challenge, site, at }, ({ signIns, challenges }, input) =>
    signIns.takeBegun(input.site, nth(challenges, input.challenge), input.at),
  ),
  "SignInStore.create": operation(
    4,
    { signIn, person: visitor, site, of: boolean(), at, expiresAt: signInEnd, replaced: maybe(signIn) },
    ({ signIns, signInIds, people, account }, { of, replaced, expiresAt, ...input }) => {
      const parts = { chatId: nth(people, input.person), site: input.site, expiresAt };
      const made = { ...parts, id: nth(signInIds, input.signIn), createdAt: input.at };
      return signIns.create(
        makeSignIn({ ...made, account: of ? account.name : null }),
        replaced === null || replaced === input.signIn ? null : nth(signInIds, replaced),
      );
    },
  ),
  "SignInStore.find": operation(2, { signIn, site, at }, ({ signIns, signInIds }, input) =>
    signIns.find(input.site, nth(signInIds, input.signIn), input.at),
  ),
  "SignInStore.list": operation(2, { person: visitor, site, at }, ({ signIns, people }, input) =>
    signIns.list(input.site, nth(people, input.person), input.at),
  ),
  "SignInStore.end": operation(
    1,
    { person: visitor, site, of: maybe(signIn) },
    ({ signIns, signInIds, people }, input) =>
      signIns.end(input.site, nth(people, input.person), input.of === null ? null : nth(signInIds, input.of)),
  ),
  "SignInStore.sweep": operation(1, { at }, ({ signIns }, input) => Effect.asVoid(signIns.sweep(input.at))),
} satisfies OperationsOf<"MemberStore", MemberStore["Service"]> &
  OperationsOf<"SignInStore", SignInStore["Service"]>;

const chatId = constantFrom(ada, bob, dan);
const chatIds = array(chatId, { maxLength: 2 });
const place = constantFrom("home", "school", "phone");
const places = FastCheck.subarray(["home", "school", "phone"]);
const verdict = constantFrom<AltVerdict>("same", "different");

const addressAt = (hash: string, addressKeyId = "k1") => ({ hash, sealed: "sealed", addressKeyId });

export const sightingOperations = {
  "SessionStore.recordSightings": operation(
    6,
    { scope, seen: array(FastCheck.record({ chatId, place, seenAt: at }), { maxLength: 4 }) },
    ({ sessions, pid }, { seen }) =>
      sessions.recordSightings(
        pid,
        seen.map(({ place: hash, ...each }) =>
          hash === "phone" ? { ...each, browser: hash } : { ...each, address: addressAt(hash) },
        ),
      ),
  ),
  "SightingStore.findByChatIds": operation(
    1,
    { scope, chatIds, limit: constantFrom(1, 2, 100) },
    ({ sightings, pid }, input) => sightings.findByChatIds(pid, input.chatIds, input.limit),
  ),
  "SightingStore.findShared": operation(
    3,
    { scope, hashes: places, including: chatIds, excluding: chatIds, limit: nat(3) },
    ({ sightings, pid }, { hashes, including, excluding, limit }) =>
      Effect.map(
        sightings.findShared(pid, { hashes, including, excluding, limit: limit + 1 }),
        (found) => new Set(found),
      ),
  ),
  "SightingStore.countUsers": operation(
    1,
    { scope, of: array(places, { maxLength: 3 }) },
    ({ sightings, pid }, { of }) => sightings.countUsers(pid, of),
  ),
  "SightingStore.reprotect": operation(
    2,
    { scope, chatId, from: place, to: constantFrom("home", "school") },
    ({ sightings, pid }, { from, to, ...input }) =>
      sightings.reprotect(pid, [{ chatId: input.chatId, hash: from, address: addressAt(to, "k2") }]),
  ),
  "SightingStore.ofUser": operation(1, { chatId }, ({ sightings }, input) => sightings.ofUser(input.chatId)),
  "SightingStore.forget": operation(
    1,
    { chatId, places: constantFrom("browsers", "addresses") },
    ({ sightings }, input) => sightings.forget(input.chatId, input.places),
  ),
  "SightingStore.countByKey": fixed(({ sightings }) => sightings.countByKey()),
  "SightingStore.listUnderOtherKeys": fixed(({ sightings }) => sightings.listUnderOtherKeys("k1", null, 10)),
  "AltReviewStore.set": operation(
    3,
    { scope, at, chatId, otherChatId: chatId, verdict, note: maybe(constantFrom("Brothers")) },
    ({ reviews, keyIds, write }, { scope: _, at: __, ...review }) =>
      reviews.set({ ...write, ...review, keyId: nth(keyIds, 0) }),
  ),
  "AltReviewStore.remove": operation(
    1,
    { scope, at, chatId, otherChatId: chatId },
    ({ reviews, write }, { otherChatId, ...input }) =>
      reviews.remove({ ...write, chatId: input.chatId, otherChatId }),
  ),
  "AltReviewStore.findByChatId": operation(
    1,
    { scope, chatId, limit: constantFrom(null, 1) },
    ({ reviews, pid }, input) => reviews.findByChatId(pid, input.chatId, input.limit),
  ),
} satisfies Pick<OperationsOf<"SessionStore", SessionStore["Service"]>, "SessionStore.recordSightings"> &
  OperationsOf<"SightingStore", SightingStore["Service"]> &
  OperationsOf<"AltReviewStore", AltReviewStore["Service"]>;

const evidence = FastCheck.subarray<Suspect["evidence"][number]>([
  { kind: "review", weight: 1 },
  { kind: "game", weight: 0.9, gameId: chess },
  { kind: "device", weight: 0.7, lastSeenAt: 3, chatUsers: 2 },
  { kind: "address", weight: 0.123, lastSeenAt: 4, chatUsers: 5 },
]);

const suspect: FastCheck.Arbitrary<Suspect> = FastCheck.record({
  chatId,
  gameId: mostly(chess, poker),
  otherChatId: chatId,
  at,
  score: constantFrom(80, 95),
  evidence,
}).filter((pair) => pair.chatId !== pair.otherChatId);

/** Returns the new links of a scope. Other scopes of a storage may have some too. */
export const newLinksOf = (suspects: SuspectStore["Service"], pid: Pid) =>
  Effect.map(suspects.dueLinks(9, mostHeld), (found) => found.filter((link) => link.pid === pid));

/** Pairs of users who may be one person, and new links whose alts wait to be counted. */
export const suspectOperations = {
  "SuspectStore.add": operation(
    3,
    { scope, added: array(suspect, { maxLength: 3 }) },
    ({ suspects, pid }, { added }) => suspects.add(pid, added),
  ),
  "SuspectStore.find": operation(2, { scope, since: at }, ({ suspects, pid }, { since }) =>
    suspects.find(pid, since),
  ),
  "SuspectStore.forget": fixed(({ suspects }) => suspects.forget(-9_000)),
  "SuspectStore.dueLinks": operation(1, { scope }, ({ suspects, pid }) => newLinksOf(suspects, pid)),
  "SuspectStore.settleLink": operation(
    2,
    { scope, chatId, gameId: constantFrom(chess, poker), at, next: maybe(at) },
    ({ suspects, pid }, { next, ...link }) => suspects.settleLink({ ...link, pid, dueAt: link.at }, next),
  ),
} satisfies OperationsOf<"SuspectStore", SuspectStore["Service"]>;

/** Requests with idempotency keys, and all data of a user. Named cases test erasures of an account's owner. */
export const userOperations = {
  "IdempotencyStore.keep": operation(
    2,
    { request: index, at, chatIds, named: chatIds },
    ({ idempotency, hashes }, { request, named, ...input }) => {
      const kept = { ...input, id: nth(hashes, request), fingerprint: "content", endsAt: input.at + 2 };
      return Effect.catchTag(
        idempotency.keep(kept, { answer: "answer", chatIds: named }),
        "Conflict",
        (error) => Effect.succeed(error.reason),
      );
    },
  ),
  "IdempotencyStore.find": operation(1, { request: index }, ({ idempotency, hashes }, { request }) =>
    idempotency.find(nth(hashes, request)),
  ),
  "IdempotencyStore.sweep": fixed(({ idempotency }) => idempotency.sweep(-9_000)),
  "UserStore.find": operation(2, { chatId }, ({ userStore }, input) => userStore.find(input.chatId)),
  "UserStore.entries": operation(2, { chatId }, ({ userStore }, input) =>
    // Stores differ in the order of communities, and in their sequences.
    Effect.map(userStore.entries(input.chatId, null, 1_000), (entries) =>
      entries
        .toSorted((one, other) => placeIn(one).localeCompare(placeIn(other)) || one.sequence - other.sequence)
        .map(({ sequence: _, ...entry }) => entry),
    ),
  ),
  "UserStore.unfinished": fixed(({ userStore }) => userStore.unfinished(Number.MAX_SAFE_INTEGER)),
  "UserStore.findRecords": operation(1, { chatId }, ({ userStore }, input) =>
    userStore.findRecords(input.chatId),
  ),
  "UserStore.erase": operation(
    2,
    { scope, at, chatId, isComplete: mostly(true, false) },
    ({ userStore, write, global, guild }, { chatId: user, isComplete }) =>
      userStore.erase({
        ...write,
        chatId: user,
        scopes: isComplete ? [global.pid, guild.pid] : [write.pid],
        pseudonym: uniqueText(),
        ownerHash: global.pid,
      }),
  ),
} satisfies OperationsOf<"IdempotencyStore", IdempotencyStore["Service"]> &
  OperationsOf<"UserStore", UserStore["Service"]>;

const placeIn = ({ account, pid }: AuditEntry): string => pid ?? account;
