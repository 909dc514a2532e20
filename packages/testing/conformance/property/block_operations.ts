import type { BlockStore, BlockTarget } from "@accountlink/core/admission";
import { Effect } from "effect";
import * as FastCheck from "fast-check";
import { ada, bob, chess, poker } from "../scopes.ts";
import { hashOf, ownOf } from "./link_operations.ts";
import { at, maybe, mostly, type OperationsOf, operation, scope } from "./operation.ts";

const { array, constantFrom, option } = FastCheck;

/** Mostly one user, so that links of others are not refused. */
const target = mostly<Omit<BlockTarget, "hash">>(
  { chatId: ada, gameId: null },
  { chatId: bob, gameId: null },
  { chatId: null, gameId: chess },
  { chatId: null, gameId: poker },
);

const withHash = (named: Omit<BlockTarget, "hash">) =>
  ({ ...named, hash: hashOf(named.chatId ?? named.gameId) }) as BlockTarget;

const user = constantFrom(ada, bob, chess);

export const blockOperations = {
  "BlockStore.set": operation(
    4,
    { scope, at, target, reason: maybe(constantFrom("Raids")) },
    ({ blocks, write, sessionIds }, { target: blocked, reason }) =>
      Effect.map(blocks.set({ ...write, ...withHash(blocked), reason }), ({ block, removed }) => ({
        block,
        removed: removed.map((link) => ({ ...link, ended: ownOf(sessionIds, link.ended) })),
      })),
  ),
  "BlockStore.remove": operation(4, { scope, at, target }, ({ blocks, write }, { target: blocked }) =>
    blocks.remove({ ...write, ...withHash(blocked) }),
  ),
  "BlockStore.removals": operation(1, {}, ({ blocks }) =>
    Effect.map(blocks.removals(), (scopes) => scopes.length),
  ),
  "BlockStore.removeLinks": operation(1, { scope }, ({ blocks, pid }) => blocks.removeLinks(pid)),
  "BlockStore.findHashes": operation(
    1,
    { scope, users: array(user, { maxLength: 3 }) },
    ({ blocks, pid }, { users }) => blocks.findHashes(pid, users.map(hashOf)),
  ),
  "BlockStore.page": operation(
    1,
    { scope, place: option(FastCheck.record({ at, user })), limit: constantFrom(1, 2, 10) },
    ({ blocks, pid }, { place, limit }) =>
      blocks.page(pid, place && { at: place.at, hash: hashOf(place.user) }, limit),
  ),
  "BlockStore.count": operation(1, { scope }, ({ blocks, pid }) => blocks.count(pid)),
  "BlockStore.ofUser": operation(
    1,
    { chatId: constantFrom(ada, bob) },
    ({ blocks, global, guild }, { chatId }) =>
      Effect.map(blocks.ofUser(chatId), (found) =>
        [global, guild].map(({ pid }) => found.find((block) => block.pid === pid)?.at),
      ),
  ),
} satisfies OperationsOf<"BlockStore", BlockStore["Service"]>;
