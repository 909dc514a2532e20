import { RootKeyStore } from "@accountlink/core/secrets";
import { assertStorable } from "@accountlink/core/storable_text";
import { layerOf } from "./state.ts";

export const layer = layerOf(RootKeyStore, (memory) => ({
  adopt: (wrapped) => {
    assertStorable([wrapped]);
    memory.rootKey ??= wrapped;
    return memory.rootKey;
  },
  replace: (expected, next) => {
    assertStorable([expected, next]);
    if (memory.rootKey !== expected) return false;
    memory.rootKey = next;
    return true;
  },
}));
