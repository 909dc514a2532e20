/** Refuses users and accounts that a session or a community does not admit. */
import { Context, Effect, Layer } from "effect";
import { makeAdmission } from "../admission/admission.ts";
import type { PlatformUnavailable } from "../errors.ts";
import { GuildLog } from "../guild_log/guild_log.ts";
import type { ChatId } from "../ids.ts";
import { GuildGuard } from "../platforms/guild_guard.ts";
import type { Proof } from "./flow_store.ts";
import type { FlowSubject } from "./flow_subjects.ts";
import { type FlowEntry, FlowRefused } from "./flow_view.ts";

export class FlowAdmission extends Context.Service<FlowAdmission>()("@accountlink/core/FlowAdmission", {
  make: Effect.gen(function* () {
    const guard = yield* GuildGuard;
    const admission = yield* makeAdmission;
    const log = yield* GuildLog;

    return {
      /**
       * Refuses a chat user if the session is for another user, or if the user is not a member of the guild.
       *
       * @param user.isMember the membership that the sign-in reported, which is newer than the platform's cached
       * answers; if undefined, the platform is asked
       */
      user: (
        { scope, guildId, chatId }: FlowSubject,
        user: { readonly chatId: ChatId; readonly isMember?: boolean | undefined },
        entry: FlowEntry,
      ): Effect.Effect<void, FlowRefused> => {
        const refuse = (reason: "wrong_user" | "not_a_member" | "no_guild") =>
          new FlowRefused({ reason, entry });
        if (chatId !== null && chatId !== user.chatId) return refuse("wrong_user");
        const isMember =
          user.isMember === undefined ? guard.isMember(guildId, user.chatId) : Effect.succeed(user.isMember);
        return Effect.andThen(guard.enterAsUser(scope, guildId), isMember).pipe(
          Effect.flatMap((is) => (is ? Effect.void : refuse("not_a_member"))),
          Effect.catchTags({
            Forbidden: () => refuse("no_guild"),
            MissingParameter: () => refuse("no_guild"),
            ...refusePlatformDown(entry),
          }),
        );
      },

      /**
       * Refuses accounts that the community does not admit, and tells the log of the community.
       *
       * @param chatId the chat user who proves the accounts
       */
      accounts: Effect.fnUntraced(function* (
        subject: FlowSubject,
        chatId: ChatId | null,
        proof: Proof,
        entry: FlowEntry,
      ) {
        const { game = null } = proof;
        const asked = {
          chat: proof.step === "chat" ? admission.chat(subject, proof.chatId) : Effect.succeed(null),
          game: game === null ? Effect.succeed(null) : admission.game(subject, game.gameId),
        };
        for (const step of ["chat", "game"] as const) {
          const refused = yield* Effect.catchTags(asked[step], refusePlatformDown(entry));
          if (refused === null) continue;
          if (chatId !== null) {
            yield* log.tellRefused(subject.scope, { chatId, gameId: game?.gameId ?? null }, refused);
          }
          return yield* new FlowRefused({ ...refused, step, entry });
        }
      }),
    };
  }),
}) {
  static readonly layer = Layer.effect(FlowAdmission, FlowAdmission.make);
}

/** Makes a handler for `Effect.catchTags` that refuses the step with the reason `platform_down`. */
export const refusePlatformDown = (entry: FlowEntry) => ({
  PlatformUnavailable: (cause: PlatformUnavailable) =>
    new FlowRefused({ reason: "platform_down", entry, step: cause.platform, cause }),
});
