/** A correct adapter for `command_test.ts`. */
import { StorageMemory } from "@accountlink/memory";

export const layer = StorageMemory.layer;
