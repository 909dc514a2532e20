import { expect, testWith } from "@accountlink/test-servers/effect";
import { Effect, Layer, Option } from "effect";
import { layerOwners } from "../account_link.ts";
import { BlockStore, mostBlocks } from "../admission/block_store.ts";
import type { Pid } from "../ids.ts";
import { KeyStore } from "../keys/key_store.ts";
import { chatId, scopes, services } from "../test_services.ts";
import { OwnedBlocks } from "./owned_blocks.ts";

const almostFull = Layer.effect(
  BlockStore,
  Effect.map(BlockStore, (store) => ({
    ...store,
    count: (pid: Pid) => Effect.map(store.count(pid), (count) => mostBlocks - 1 + count),
  })),
);

const test = testWith(Layer.provideMerge(layerOwners, Layer.provideMerge(almostFull, services)));

test("users of a file are blocked only where the scope has room for all of them", function* () {
  const { global } = yield* scopes;
  const blocks = yield* OwnedBlocks;
  const account = Option.getOrThrow(yield* KeyStore.use((keys) => keys.findAccount(global.account)));
  const owner = { account, chatId: chatId("10001"), requestId: "1", scopes: null };
  const users = ["10002", "10003"].map((id) => ({ chatId: chatId(id), gameId: null }));
  const listed = users.map((user) => ({ user, reason: null }));
  expect(yield* Effect.flip(blocks.importAll(owner, global, listed))).toMatchObject({
    reason: "block_limit",
  });
  expect(yield* blocks.admitted(global, users)).toEqual(users);
  expect(yield* blocks.importAll(owner, global, listed.slice(1))).toEqual({ imported: 1, kept: 0, left: 0 });
});
