/** The data of one chat user, in every scope. */
import { type InvalidParameter, type StoreUnavailable, UserData } from "@accountlink/core";
import type { FoundUser, UserErased } from "@accountlink/core/users";
import { Context, Effect, Layer } from "effect";
import { chatIdOf } from "./ids.ts";
import { originOf, type WriteOptions } from "./scope.ts";
import { checked, signatures } from "./signatures.ts";

type UserError = InvalidParameter | StoreUnavailable;

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
export class Users extends Context.Service<
  Users,
  {
    /** Returns everything that is stored about a chat user. It reads the whole audit log. */
    readonly export: (chatId: string) => Effect.Effect<FoundUser, UserError>;

    /** Erases a chat user from every scope and from the audit log, and returns the counts of erased records. */
    readonly erase: (
      chatId: string,
      options?: Pick<WriteOptions, "actor">,
    ) => Effect.Effect<UserErased, UserError>;
  }
>()("accountlink/Users") {
  static readonly layer = Layer.effect(
    Users,
    Effect.map(UserData, (data) =>
      Users.of(
        checked<Users["Service"]>(
          {
            export: (chatId) => Effect.flatMap(chatIdOf(chatId), data.find),
            erase: (chatId, options) =>
              Effect.flatMap(chatIdOf(chatId), (id) => data.erase(id, originOf(options))),
          },
          signatures.users,
        ),
      ),
    ),
  );
}
