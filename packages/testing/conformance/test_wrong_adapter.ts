/** A wrong adapter for `command_test.ts`: `setGame` does not return the replaced game. */
import { LinkStore } from "@accountlink/core";
import { StorageMemory } from "@accountlink/memory";
import { Effect } from "effect";
import { withMistake } from "./test_mistakes.ts";

export const layer = withMistake(StorageMemory.layer, LinkStore, (store) => ({
  setGame: (write) => Effect.map(store.setGame(write), (set) => ({ ...set, previousGameId: null })),
}));
