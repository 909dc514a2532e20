import { Clock, Context, Effect, Layer } from "effect";
import { makeAnnounceItems } from "../couriers/couriers.ts";
import type { DataScope } from "../data_scope.ts";
import { GuildLogStore } from "./guild_log_store.ts";
import type { LogEntry } from "./log_entry.ts";

/** Tells the logs of communities what no event of the feed tells. @internal */
export class GuildLog extends Context.Service<GuildLog>()("@accountlink/core/GuildLog", {
  make: Effect.gen(function* () {
    const store = yield* GuildLogStore;
    const announce = yield* makeAnnounceItems("guild_logs");
    return {
      /** Tells the logs of a scope's guilds. Does nothing for guilds without a log. */
      tell: Effect.fn("GuildLog.tell")(function* ({ pid }: Pick<DataScope, "pid">, entry: LogEntry) {
        yield* store.add(pid, entry, yield* Clock.currentTimeMillis);
        yield* announce;
      }),
    };
  }),
}) {
  static readonly layer = Layer.effect(GuildLog, GuildLog.make);
}
