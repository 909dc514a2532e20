/** A right engine for `command_test.ts`. */
import { memoryKv } from "@accountlink/kv";
import { Effect } from "effect";

export const engine = Effect.sync(memoryKv);
