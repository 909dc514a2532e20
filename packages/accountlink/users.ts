/** The data of one chat user, in every scope. */
import { type ChatId, UserData } from "@accountlink/core";
import { Context, Effect, Layer } from "effect";
import * as Accept from "./accept.ts";
import { method } from "./method.ts";
import { type ActorOptions, originOf } from "./scope.ts";
import { withSpans } from "./spans.ts";

/**
 * Exports and erases the data of chat users.
 *
 * @example
 * ```ts
 * import { Effect } from "effect";
 *
 * const program = Effect.gen(function* () {
 *   const users = yield* Users;
 *   return (yield* users.export("100001")).records;
 * });
 * const service = AccountLink.layerMemory({ gameUserExists: () => true });
 * await Effect.runPromise(Effect.provide(program, service)); // []
 * ```
 */
export class Users extends Context.Service<Users>()("accountlink/Users", {
  make: Effect.map(UserData, (data) => ({
    /** Returns everything that is stored about a chat user. It reads the whole audit log. */
    export: method([Accept.chatId], (chatId: ChatId) => data.find(chatId)),

    /** Erases a chat user from every scope and from the audit log, and returns the counts of erased records. */
    erase: method([Accept.chatId, Accept.acting], (chatId: ChatId, options?: ActorOptions) =>
      data.erase(chatId, originOf(options)),
    ),
  })).pipe(withSpans("Users")),
}) {
  static readonly layer = Layer.effect(Users, Users.make);
}
