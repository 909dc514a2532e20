import { Clock, Context, Effect, Layer } from "effect";
import type { NotAdmitted } from "../admission/admission.ts";
import { makeAnnounceItems } from "../couriers/couriers.ts";
import type { DataScope } from "../data_scope.ts";
import type { ChatId, GameId } from "../ids.ts";
import { GuildLogStore } from "./guild_log_store.ts";
import type { LogEntry } from "./log_entry.ts";

/** Tells the logs of communities what no event of the feed tells. @internal */
export class GuildLog extends Context.Service<GuildLog>()("@accountlink/core/GuildLog", {
  make: Effect.gen(function* () {
    const store = yield* GuildLogStore;
    const announce = yield* makeAnnounceItems("guild_logs");

    /** Tells the logs of a scope's guilds. Does nothing for guilds without a log. */
    const tell = Effect.fn("GuildLog.tell")(function* ({ pid }: Pick<DataScope, "pid">, entry: LogEntry) {
      yield* store.add(pid, entry, yield* Clock.currentTimeMillis);
      yield* announce;
    });

    return {
      tell,

      /** Tells that a chat user tried to link an account. An unknown age says nothing about the user. */
      tellRefused: (
        scope: Pick<DataScope, "pid">,
        user: { readonly chatId: ChatId; readonly gameId: GameId | null },
        { reason: why }: NotAdmitted,
      ) => (why === "age_unknown" ? Effect.void : tell(scope, { is: "refused", ...user, why })),
    };
  }),
}) {
  static readonly layer = Layer.effect(GuildLog, GuildLog.make);
}
