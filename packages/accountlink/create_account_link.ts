/** The service with promises. */
import { type LinkEventMap, LinkEvents } from "@accountlink/core/links";
import type { WebHandler, WebHandlerOptions, WebHandlerServices } from "@accountlink/http";
import type { PageServices } from "@accountlink/pages";
import { Context, Effect, Scope as EffectScope, Exit, Layer, Stream } from "effect";
import { layer, layerScope, type layerServices } from "./account_link.ts";
import { Accounts } from "./accounts.ts";
import { Alts } from "./alts.ts";
import { Audit } from "./audit.ts";
import { Events } from "./events.ts";
import { Keys } from "./keys.ts";
import { Links } from "./links.ts";
import { InvalidOptions, type Options } from "./options.ts";
import { type Promised, PromiseRunner } from "./promised.ts";
import type { ScopeChoice } from "./scope.ts";
import { Sessions } from "./sessions.ts";
import { Users } from "./users.ts";
import { Webhooks } from "./webhooks.ts";

/** The services of one data scope. */
export interface ScopedAccountLink {
  readonly links: Promised<Links["Service"]>;
  readonly keys: Promised<Keys["Service"]>;
  readonly sessions: Promised<Sessions["Service"]>;
  readonly alts: Promised<Alts["Service"]>;
  readonly audit: Promised<Audit["Service"]>;
  readonly events: Promised<Events["Service"]>;
  readonly webhooks: Promised<Webhooks["Service"]>;
}

/** The service in this process. */
export interface PromisedAccountLink extends ScopedAccountLink {
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

  /**
   * Answers a request to the HTTP interface, pages included. It needs the option `http`.
   *
   * @param info the IP address of the client, as the server's connection has it
   */
  readonly fetch: WebHandler["fetch"];

  /**
   * Answers a request to the HTTP interface that Node's HTTP server, Express or Fastify passes on, without a `Request` in
   * between. It needs the option `http`. It reads the body, so it comes before body parsers.
   *
   * @param info the IP address of the client, if it is not that of the socket; `next` of Express is ignored
   *
   * @example
   * ```ts
   * import { createServer } from "node:http";
   *
   * const http = { publicUrl: "http://localhost:3000", clientAddress: "given" } as const;
   * const al = await createAccountLink({ gameUserExists: () => true, http });
   * const server = createServer(al.nodeListener);
   * await al.close();
   * ```
   */
  readonly nodeListener: WebHandler["nodeListener"];

  /**
   * Ends waits and streams, answers the requests under way, and closes the storage, so that the process may exit. Other
   * calls in progress reject with `AccountLinkClosed`.
   */
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
export const createAccountLink = async (options: Options): Promise<PromisedAccountLink> => {
  const scope = EffectScope.makeUnsafe();
  const close = () => Effect.runPromise(EffectScope.close(scope, Exit.void));
  try {
    const opening = new PromiseRunner(Context.empty());
    const context = await opening.run(Layer.buildWithScope(layer({ logLevel: "Warn", ...options }), scope));
    const al = await promisedAccountLink(context, options.http);
    return { ...al, close: () => al.close().then(close) };
  } catch (error) {
    await close();
    throw error;
  }
};

/** What `promisedAccountLink` needs of `AccountLink.layer`. */
type PromisableServices =
  | PageServices
  | Layer.Success<ReturnType<typeof layerServices>>
  | Layer.Services<ReturnType<typeof layerScope>>
  | WebHandlerServices
  | LinkEvents;

/**
 * Services that a program built with Effect, with promises. `close` ends what runs, and leaves the services to the
 * program.
 *
 * @param services what `AccountLink.layer` builds
 * @param http how `fetch` and `nodeListener` serve the HTTP interface; left out, they do not
 *
 * @example
 * ```ts
 * import { Effect, Layer } from "effect";
 *
 * const program = Effect.gen(function* () {
 *   const services = yield* Layer.build(AccountLink.layerMemory({ gameUserExists: () => true }));
 *   const al = yield* Effect.promise(() => promisedAccountLink(services));
 *   return yield* Effect.promise(() => al.links.set("100001", "1"));
 * });
 * (await Effect.runPromise(Effect.scoped(program))).gameId; // "1"
 * ```
 */
export const promisedAccountLink = async (
  services: Context.Context<PromisableServices>,
  http?: WebHandlerOptions,
): Promise<PromisedAccountLink> => {
  const scope = EffectScope.makeUnsafe();
  const handler = await webHandlerOf(Layer.succeedContext(services), http);
  const runner = new PromiseRunner(services);
  return {
    ...scopedWith(runner, services),
    accounts: runner.promised(Context.get(services, Accounts)),
    users: runner.promised(Context.get(services, Users)),

    // Nothing in a scope has to be closed.
    scope: async (choice) => {
      const opened = Effect.scoped(Layer.build(layerScope(choice)));
      return scopedWith(runner, await runner.run(Effect.provideContext(opened, services)));
    },

    on: (name, listener) => runner.run(Effect.provideContext(listen(name, listener, scope), services)),

    fetch: handler.fetch,
    nodeListener: handler.nodeListener,

    close: async () => {
      await runner.close();
      await handler.close();
      await Effect.runPromise(EffectScope.close(scope, Exit.void));
    },
  };
};

const scopedWith = (
  runner: PromiseRunner,
  services: Context.Context<Links | Keys | Sessions | Alts | Audit | Events | Webhooks>,
): ScopedAccountLink => ({
  links: runner.promised(Context.get(services, Links)),
  keys: runner.promised(Context.get(services, Keys)),
  sessions: runner.promised(Context.get(services, Sessions)),
  alts: runner.promised(Context.get(services, Alts)),
  audit: runner.promised(Context.get(services, Audit)),
  events: runner.promised(Context.get(services, Events)),
  webhooks: runner.promised(Context.get(services, Webhooks)),
});

const httpMissing = (method: string) =>
  new InvalidOptions({ problems: [`http is missing, expected the options of ${method}`] });

const withoutHttp: WebHandler = {
  fetch: () => Promise.reject(httpMissing("fetch")),
  nodeListener: () => {
    throw httpMissing("nodeListener");
  },
  close: () => Promise.resolve(),
};

/** Programs that do not serve HTTP do not load it. */
const webHandlerOf = async (
  services: Layer.Layer<WebHandlerServices | PageServices>,
  options: WebHandlerOptions | undefined,
): Promise<WebHandler> => {
  if (options === undefined) return withoutHttp;
  const [{ makeWebHandler }, { makePages }] = await Promise.all([
    import("@accountlink/http"),
    import("@accountlink/pages"),
  ]);
  try {
    return makeWebHandler(services, { ...options, pages: makePages });
  } catch (error) {
    throw error instanceof TypeError ? new InvalidOptions({ problems: [`http: ${error.message}`] }) : error;
  }
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
