/** For tests: what a module exports to the command line. */
import { StorageMemory } from "@accountlink/memory";

export const layer = StorageMemory.layer;
