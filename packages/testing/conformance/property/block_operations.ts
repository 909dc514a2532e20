import type { BlockStore, BlockTarget } from "@accountlink/core/admission";
import { Effect } from "effect";
import * as FastCheck from "fast-check";
import { ada, bob, chess, poker } from "../scopes.ts";
import { ownOf } from "./link_operations.ts";
import { at, maybe, type OperationsOf, operation, scope } from "./operation.ts";

const { array, constantFrom, option } = FastCheck;

const target = constantFrom<BlockTarget>(
  { chatId: ada, gameId: null, hash: "ada" },
  { chatId: bob, gameId: null, hash: "bob" },
  { chatId: null, gameId: chess, hash: "chess" },
  { chatId: null, gameId: poker, hash: "poker" },
);

const hash = constantFrom("ada", "bob", "chess");

export const blockOperations = {
  "BlockStore.set": operation(
    2,
    { scope, at, target, reason: maybe(constantFrom("Raids")) },
    ({ blocks, write, sessionIds }, { target: blocked, reason }) =>
      Effect.map(blocks.set({ ...write, ...blocked, reason }), ({ block, removed }) => ({
        block,
        removed: removed.map((link) => ({ ...link, ended: ownOf(sessionIds, link.ended) })),
      })),
  ),
  "BlockStore.remove": operation(2, { scope, at, target }, ({ blocks, write }, { target: blocked }) =>
    blocks.remove({ ...write, ...blocked }),
  ),
  "BlockStore.findHashes": operation(
    1,
    { scope, hashes: array(hash, { maxLength: 3 }) },
    ({ blocks, pid }, input) => blocks.findHashes(pid, input.hashes),
  ),
  "BlockStore.page": operation(
    1,
    { scope, place: option(FastCheck.record({ at, hash })), limit: constantFrom(1, 2, 10) },
    ({ blocks, pid }, { place, limit }) => blocks.page(pid, place, limit),
  ),
  "BlockStore.ofUser": operation(
    1,
    { chatId: constantFrom(ada, bob) },
    ({ blocks, global, guild }, { chatId }) =>
      Effect.map(blocks.ofUser(chatId), (found) =>
        [global, guild].map(({ pid }) => found.find((block) => block.pid === pid)?.at),
      ),
  ),
} satisfies OperationsOf<"BlockStore", BlockStore["Service"]>;
