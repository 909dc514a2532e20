/**
 * Look-ups that begin before the limits have let their request in: of what all nodes have in their cache, so that both
 * come back together. The store is never asked for a request that may yet be refused.
 */
import { CachedStores, ChatId, type DataScope } from "@accountlink/core";
import { Effect, Schema } from "effect";
import type { RawValues } from "./parameters.ts";

const isChatId = Schema.is(ChatId);
const nothing = Effect.succeed(null);

/** Makes the step that begins to look up the chat user of a query, if it names one; null when that saves nothing. */
export const lookupBeginner = Effect.map(CachedStores.LookAhead, (begin) =>
  begin === null
    ? null
    : ({ pid }: DataScope, { chatId }: RawValues): Effect.Effect<CachedStores.BegunLookup | null> =>
        isChatId(chatId) ? begin(pid, chatId) : nothing,
);
