import { Clock, Context, Effect, Layer, Result } from "effect";
import type { NotAdmitted } from "../admission/admission.ts";
import { makeAnnounceItems } from "../couriers/couriers.ts";
import type { DataScope } from "../data_scope.ts";
import type { ChatId, GameId } from "../ids.ts";
import { Counters } from "../limits/counters.ts";
import { Secrets } from "../secrets/secrets.ts";
import { hourMs } from "../timestamp.ts";
import { GuildLogStore } from "./guild_log_store.ts";
import type { LogEntry } from "./log_entry.ts";

/** How long the same refusal is not told again, in milliseconds. */
const toldFor = hourMs;

/** Tells the logs of communities what no event of the feed tells. @internal */
export class GuildLog extends Context.Service<GuildLog>()("@accountlink/core/GuildLog", {
  make: Effect.gen(function* () {
    const store = yield* GuildLogStore;
    const announce = yield* makeAnnounceItems("guild_logs");
    const counters = yield* Counters;
    const secrets = yield* Secrets;

    /** Tells the logs of a scope's guilds. Does nothing for guilds without a log. */
    const tell = Effect.fn("GuildLog.tell")(function* ({ pid }: Pick<DataScope, "pid">, entry: LogEntry) {
      yield* store.add(pid, entry, yield* Clock.currentTimeMillis);
      yield* announce;
    });

    return {
      tell,

      /**
       * Tells that a chat user tried to link an account, at most once an hour for the same account and reason. An unknown
       * age says nothing about the user.
       */
      tellRefused: Effect.fn("GuildLog.tellRefused")(function* (
        scope: Pick<DataScope, "pid">,
        user: { readonly chatId: ChatId; readonly gameId: GameId | null },
        { reason: why }: NotAdmitted,
      ) {
        if (why === "age_unknown") return;
        const subject = `refused ${scope.pid} ${user.chatId} ${user.gameId ?? ""} ${why}`;
        const key = `refused:${yield* secrets.counterName(subject)}`;
        const now = yield* Clock.currentTimeMillis;
        const told = yield* Effect.result(counters.admit([{ key, limit: 1, durationMs: toldFor }], now));
        if (Result.isSuccess(told) && !told.success.admitted) return;
        yield* tell(scope, { is: "refused", ...user, why });
      }),
    };
  }),
}) {
  static readonly layer = Layer.effect(GuildLog, GuildLog.make);
}
