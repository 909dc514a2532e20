import { assert, it } from "@accountlink/test-servers/effect";
import { makeFlow, makeKey, makeSession } from "@accountlink/testing";
import { GameId, Pid } from "../ids.ts";
import type { LinkRecord } from "../links/link.ts";
import type { CompleteFlow } from "../sessions/session_store.ts";
import { chatId, operator } from "../test_services.ts";
import {
  type CompletionState,
  completedSession,
  completionRefusal,
  type VerificationFlow,
} from "./flow_store.ts";

const [ada, bob, cyd] = [chatId("10001"), chatId("10002"), chatId("10003")];
const [chess, poker] = [GameId.make("1"), GameId.make("2")];
const scope = { kind: "global", pid: Pid.make("pid_0123456789abcdefghij"), account: "acme" } as const;
const session = makeSession(makeKey(scope), { createdAt: 0, expiresAt: 100 });
const proofs: Partial<VerificationFlow> = {
  chatId: ada,
  gameId: chess,
  gameProof: "oauth",
  seenVersion: 2,
  expiresAt: 100,
};
const flow = makeFlow(scope, { ...proofs, session: session.id });
const alone = makeFlow(scope, proofs);
const record: LinkRecord = {
  chatId: ada,
  gameId: poker,
  linkVersion: 2,
  linkedAt: 0,
  lastVerifiedAt: 0,
  proof: "hand",
};
const state: CompletionState = { flow, session, record, isBlocked: false, takenBy: [] };
const write = {
  ...operator,
  flow: flow.id,
  pid: scope.pid,
  chatId: ada,
  gameId: chess,
  proof: "oauth",
  at: 99,
  address: null,
  browser: null,
} satisfies CompleteFlow;

it.each<readonly [string, Partial<CompleteFlow>, Partial<CompletionState>]>([
  ["the last moment of flow and session", {}, {}],
  ["a flow without a session", {}, { flow: alone, session: undefined }],
  ["a session for the chat user", {}, { session: { ...session, chatId: ada } }],
  ["a session that names the game user", {}, { session: { ...session, gameId: chess } }],
  ["a session that was opened", {}, { session: { ...session, state: "opened" } }],
  ["no record", {}, { flow: { ...flow, seenVersion: 0 }, record: undefined }],
  ["a link that is kept", { keeps: true }, {}],
  ["a move from any chat user", { moves: true }, { takenBy: [bob] }],
  ["a move from the newest chat user", { moves: bob }, { takenBy: [bob, cyd] }],
])("completionRefusal allows %s", (_, written, stored) => {
  assert.isNull(completionRefusal({ ...write, ...written }, { ...state, ...stored }));
});

it.each<readonly [string, string, Partial<CompleteFlow>, Partial<CompletionState>]>([
  ["FlowGone", "no flow", {}, { flow: undefined }],
  ["FlowGone", "an expired flow", { at: 100 }, { flow: alone, session: undefined }],
  ["FlowGone", "another scope", { pid: Pid.make("pid_0123456789abcdefghik") }, {}],
  ["FlowGone", "no proof of the game account", {}, { flow: { ...flow, gameId: null, seenVersion: null } }],
  ["FlowGone", "the proof of another chat account", { chatId: bob }, {}],
  ["FlowGone", "the proof of another game account", { gameId: poker }, {}],
  ["FlowGone", "a session for another chat user", {}, { session: { ...session, chatId: bob } }],
  ["FlowGone", "a session that names another game user", {}, { session: { ...session, gameId: poker } }],
  ["FlowGone", "another way of proof", { proof: "session" }, {}],
  ["FlowGone", "a session that is missing", {}, { session: undefined }],
  ["SessionOver", "an expired session", { at: 100 }, {}],
  ["SessionOver", "a final session", {}, { session: { ...session, state: "cancelled" } }],
  ["LinkChanged", "proofs that a removal took", {}, { flow: { ...flow, chatId: null, gameId: null } }],
  ["LinkChanged", "a record that changed", {}, { record: { ...record, linkVersion: 3 } }],
  ["LinkChanged", "a record that is new", {}, { flow: { ...flow, seenVersion: 0 } }],
  ["LinkChanged", "nothing to keep", { keeps: true }, { record: { ...record, gameId: null } }],
  ["Taken", "a game account of another chat user", {}, { takenBy: [bob] }],
  ["Taken", "a move from a chat user who is not the newest", { moves: cyd }, { takenBy: [bob, cyd] }],
  ["Taken", "a move from too many", { moves: true }, { takenBy: Array.from({ length: 20 }, () => bob) }],
])("completionRefusal returns %s for %s", (tag, _, written, stored) => {
  assert.strictEqual(completionRefusal({ ...write, ...written }, { ...state, ...stored })?._tag, tag);
});

const completed = { ...session, state: "completed", chatId: ada, completedAt: 99, change: 2 } as const;

it("a completed session has the game user of the existing link if the chat user keeps this link", () => {
  const kept = { ...completed, gameId: poker, linkChanged: false, previousGameId: null };
  const games = { gameId: poker, previousGameId: poker };
  assert.deepStrictEqual(completedSession(session, { ...write, keeps: true }, games), kept);
});
