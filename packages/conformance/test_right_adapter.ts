/** For tests: what a module exports to the command line. */
import { StorageMemory } from "@accountlink/storage-memory";

export const layer = StorageMemory.layer;
