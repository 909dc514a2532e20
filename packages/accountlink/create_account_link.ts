/**
 * The service with promises.
 */
import { type LinkEventMap, LinkEvents } from "@accountlink/core/links";
import { Context, Effect, Scope as EffectScope, Exit, Layer, Stream } from "effect";
import { layer, layerScope } from "./account_link.ts";
import { Accounts } from "./accounts.ts";
import { Alts } from "./alts.ts";
import { Audit } from "./audit.ts";
import { Keys } from "./keys.ts";
import { Links } from "./links.ts";
import type { Options } from "./options.ts";
import { type Promised, PromiseRunner } from "./promised.ts";
import type { ScopeChoice } from "./scope.ts";
import { Sessions } from "./sessions.ts";
import { Users } from "./users.ts";

/** The services of one data scope. */
export interface ScopedAccountLink {
  readonly links: Promised<Links["Service"]>;
  readonly keys: Promised<Keys["Service"]>;
  readonly sessions: Promised<Sessions["Service"]>;
  readonly alts: Promised<Alts["Service"]>;
  readonly audit: Promised<Audit["Service"]>;
}

/** The service in this process. */
export interface AccountLink extends ScopedAccountLink {
  readonly accounts: Promised<Accounts["Service"]>;
  readonly users: Promised<Users["Service"]>;

  /** The services of another account or guild. It asks the store, so keep what it returns. */
  readonly scope: (choice: ScopeChoice) => Promise<ScopedAccountLink>;

  /**
   * Calls back with each later event, of every scope and, with Redis, of every process. One at a time: the next waits
   * for the promise of the one before. An event can be lost, while the listener or Redis is away.
   *
   * @returns once it listens: a function that ends it
   */
  readonly on: <Name extends keyof LinkEventMap>(name: Name, listener: Listener<Name>) => Promise<() => void>;

  /** Ends waits and streams, and closes the storage. Calls in progress reject with `AccountLinkClosed`. */
  readonly close: () => Promise<void>;
}

/**
 * Opens the service. Rejects with `InvalidOptions`, with `SecretRejected` if another secret was used with the storage
 * before, and with the errors of the storage.
 *
 * @example
 * ```ts
 * const al = await createAccountLink({ gameUserExists: async (id) => id === "1" });
 * await al.links.set("100001", "1");
 * (await al.links.get("100001"))?.gameId; // "1"
 * await al.close();
 * ```
 */
export const createAccountLink = async (options: Options): Promise<AccountLink> => {
  const scope = EffectScope.makeUnsafe();
  const opening = new PromiseRunner(Context.empty());
  const close = () => Effect.runPromise(EffectScope.close(scope, Exit.void));
  const context = await opening
    .run(Layer.buildWithScope(layer(options), scope))
    .catch(async (error: unknown) => {
      await close();
      throw error;
    });
  const runner = new PromiseRunner(context);

  const scoped = (services: Context.Context<Links | Keys | Sessions | Alts | Audit>): ScopedAccountLink => ({
    links: runner.promised(Context.get(services, Links)),
    keys: runner.promised(Context.get(services, Keys)),
    sessions: runner.promised(Context.get(services, Sessions)),
    alts: runner.promised(Context.get(services, Alts)),
    audit: runner.promised(Context.get(services, Audit)),
  });

  return {
    ...scoped(context),
    accounts: runner.promised(Context.get(context, Accounts)),
    users: runner.promised(Context.get(context, Users)),

    // Nothing in a scope has to be closed.
    scope: async (choice) =>
      scoped(
        await runner.run(Effect.provideContext(Effect.scoped(Layer.build(layerScope(choice))), context)),
      ),

    on: (name, listener) => runner.run(Effect.provideContext(listen(name, listener, scope), context)),

    close: async () => {
      await runner.close();
      await close();
    },
  };
};

type Listener<Name extends keyof LinkEventMap> = (event: LinkEventMap[Name]) => void | Promise<void>;

/** Listens until the scope closes, or the returned function is called. */
const listen = Effect.fnUntraced(function* <Name extends keyof LinkEventMap>(
  name: Name,
  listener: Listener<Name>,
  scope: EffectScope.Scope,
) {
  const { subscribe } = yield* LinkEvents;
  const listening = yield* EffectScope.fork(scope);
  const events = yield* EffectScope.provide(subscribe(name), listening);
  const tell = (event: LinkEventMap[Name]) =>
    Effect.tryPromise(async () => await listener(event)).pipe(
      Effect.catch(({ cause }) => Effect.logError(`The listener of "${name}" failed`, cause)),
    );
  yield* Effect.forkIn(Stream.runForEach(events, tell), listening);
  return () => void Effect.runFork(EffectScope.close(listening, Exit.void));
});
