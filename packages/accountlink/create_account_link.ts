/** `createAccountLink`, which opens the service as an object whose methods return promises. */
import { InvalidParameter } from "@accountlink/core";
import { type LinkEventMap, LinkEvents } from "@accountlink/core/links";
import type { WebHandler, WebHandlerOptions, WebHandlerServices } from "@accountlink/http";
import type { PageServices } from "@accountlink/pages";
import { Context, Effect, Scope as EffectScope, Exit, Layer, Stream } from "effect";
import { layer, layerScope, type layerServices } from "./account_link.ts";
import { Accounts } from "./accounts.ts";
import { Alts } from "./alts.ts";
import { Audit } from "./audit.ts";
import { AccountLinkClosed } from "./errors.ts";
import { Events } from "./events.ts";
import { Keys } from "./keys.ts";
import { Links } from "./links.ts";
import { type AnyOptions, type Forgotten, InvalidOptions, type Options } from "./options.ts";
import { type PromisedServices, PromiseRunner } from "./promised.ts";
import { Roles } from "./roles.ts";
import type { ScopeChoice } from "./scope.ts";
import { Sessions } from "./sessions.ts";
import { Users } from "./users.ts";
import { Webhooks } from "./webhooks.ts";

const scopedServices = {
  links: Links,
  keys: Keys,
  sessions: Sessions,
  alts: Alts,
  audit: Audit,
  events: Events,
  webhooks: Webhooks,
  roles: Roles,
};
const sharedServices = { accounts: Accounts, users: Users };

/** The services of one data scope. */
export interface ScopedAccountLink extends PromisedServices<typeof scopedServices> {}

/** The service in this process: the services of one data scope, and everything that is independent of a scope. */
export interface PromisedAccountLink extends ScopedAccountLink, PromisedServices<typeof sharedServices> {
  /** Returns the services of another account or guild. Each call reads the store, so keep the result. */
  readonly scope: (choice: ScopeChoice) => Promise<ScopedAccountLink>;

  /**
   * Calls the listener for each later event of every scope and, with Redis, of every process. If the listener returns a
   * promise, its next call waits for this promise. An event can be lost while this process or Redis is down.
   *
   * @returns a promise that resolves once events are received, with a function that unsubscribes; it rejects with
   * `InvalidParameter` for a name that is unknown
   */
  readonly on: <Name extends keyof LinkEventMap>(name: Name, listener: Listener<Name>) => Promise<() => void>;

  /**
   * Answers a request to the HTTP interface, pages included. Requires the option `http`.
   *
   * @param info the client's IP address, as the server's connection reports it
   */
  readonly fetch: WebHandler["fetch"];

  /**
   * Answers an HTTP request that Node's HTTP server, Express or Fastify passes on, without making a `Request`. Requires
   * the option `http`. The listener reads the body of the request, so register the listener before body parsers.
   *
   * @param info the client's IP address, by default the socket's; a function, such as Express's `next`, is ignored
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

  /** The commands that users type in chat. Requires the option `http`. */
  readonly chat: {
    /**
     * Answers an interaction that the chat platform sent, as `POST /chat/interactions` does, whatever the path of the
     * request. A request that the platform did not sign is answered with 401.
     *
     * @example
     * ```ts
     * const http = { publicUrl: "https://links.example", clientAddress: "given" } as const;
     * const al = await createAccountLink({ gameUserExists: () => true, http });
     * const bot = { fetch: (request: Request) => al.chat.answer(request) };
     * typeof bot.fetch; // "function"
     * await al.close();
     * ```
     */
    readonly answer: (request: Request) => Promise<Response>;
  };

  /**
   * Ends the long polls and streams of the HTTP interface, finishes its other requests, and closes the storage, so that
   * the process can exit. Other calls in progress reject with `AccountLinkClosed`.
   */
  readonly close: () => Promise<void>;
}

/**
 * Opens the service. Rejects with `InvalidOptions`, with `SecretRejected` if the storage was used with another secret
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
export const createAccountLink = async <Given extends AnyOptions>(
  given: Given & Forgotten<Given>,
): Promise<PromisedAccountLink> => {
  const options = given as Options;
  const scope = EffectScope.makeUnsafe();
  const close = () => Effect.runPromise(EffectScope.close(scope, Exit.void));
  try {
    const opening = new PromiseRunner(Context.empty());
    const context = await opening.run(Layer.buildWithScope(layer({ logLevel: "Warn", ...options }), scope));
    const al = await promisedAccountLink(context, options.http);
    let closing: Promise<void> | undefined;
    return { ...al, close: () => (closing ??= al.close().then(close)) };
  } catch (error) {
    await close();
    throw error;
  }
};

/** The services of `AccountLink.layer` that `promisedAccountLink` requires. */
type PromisableServices =
  | PageServices
  | Layer.Success<ReturnType<typeof layerServices>>
  | Layer.Services<ReturnType<typeof layerScope>>
  | WebHandlerServices
  | LinkEvents;

/**
 * Wraps services that a program built with Effect, so that their methods return promises. The method `close` ends
 * running calls, but does not close the services.
 *
 * @param services the services that `AccountLink.layer` builds
 * @param http how `fetch` and `nodeListener` serve the HTTP interface; if left out, they fail with `InvalidOptions`
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
  let isClosed = false;
  /** Rejects calls after `close`, and those that it interrupts. */
  const whileOpen =
    <Args extends ReadonlyArray<unknown>>(answer: (...args: Args) => Promise<Response>) =>
    (...args: Args): Promise<Response> =>
      isClosed
        ? Promise.reject(new AccountLinkClosed())
        : answer(...args).catch((error: unknown) =>
            Promise.reject(isClosed ? new AccountLinkClosed() : error),
          );
  return {
    ...runner.promised(services, scopedServices),
    ...runner.promised(services, sharedServices),

    // These services hold no resources, so `Effect.scoped` may close their layer once it is built.
    scope: async (choice) => {
      const opened = Effect.scoped(Layer.build(layerScope(choice)));
      return runner.promised(await runner.run(Effect.provideContext(opened, services)), scopedServices);
    },

    on: (name, listener) => runner.run(Effect.provideContext(checkedListen(name, listener, scope), services)),

    fetch: whileOpen(handler.fetch),
    nodeListener: handler.nodeListener,
    chat: { answer: whileOpen(handler.answerChat) },

    close: async () => {
      isClosed = true;
      await runner.close();
      await handler.close();
      await Effect.runPromise(EffectScope.close(scope, Exit.void));
    },
  };
};

const httpMissing = (method: string) =>
  new InvalidOptions({ problems: [`http is missing, expected the options of ${method}`] });

interface EmbeddedHandler extends WebHandler {
  readonly answerChat: PromisedAccountLink["chat"]["answer"];
}

const withoutHttp: EmbeddedHandler = {
  fetch: () => Promise.reject(httpMissing("fetch")),
  answerChat: () => Promise.reject(httpMissing("chat.answer")),
  nodeListener: () => {
    throw httpMissing("nodeListener");
  },
  close: () => Promise.resolve(),
};

/** Imports the HTTP interface on demand, so programs that do not serve HTTP do not load it. */
const webHandlerOf = async (
  services: Layer.Layer<WebHandlerServices | PageServices>,
  options: WebHandlerOptions | undefined,
): Promise<EmbeddedHandler> => {
  if (options === undefined) return withoutHttp;
  const [{ makeWebHandler }, { makePages }, { interactionsPath }] = await Promise.all([
    import("@accountlink/http"),
    import("@accountlink/pages"),
    import("@accountlink/pages/chat"),
  ]);
  try {
    const handler = makeWebHandler(services, { ...options, pages: makePages });
    const url = new URL(
      `${(options.basePath ?? "").replace(/\/$/, "")}${interactionsPath}`,
      options.publicUrl,
    );
    // The signature proves who sent the request, and no limit depends on the address.
    const sender = { clientAddress: "0.0.0.0" };
    return { ...handler, answerChat: (request) => handler.fetch(new Request(url, request), sender) };
  } catch (error) {
    throw error instanceof TypeError ? new InvalidOptions({ problems: [`http: ${error.message}`] }) : error;
  }
};

type Listener<Name extends keyof LinkEventMap> = (event: LinkEventMap[Name]) => void | Promise<void>;

const eventNames = ["linkChanged", "linksDeleted"] satisfies ReadonlyArray<keyof LinkEventMap>;

/** Checks the arguments, since plain JavaScript knows no types. */
const checkedListen = <Name extends keyof LinkEventMap>(
  name: Name,
  listener: Listener<Name>,
  scope: EffectScope.Scope,
) => {
  if (!eventNames.some((known) => known === name)) {
    return InvalidParameter.one("name", `is "${name}", expected one of ${eventNames.join(", ")}`);
  }
  return typeof listener === "function"
    ? listen(name, listener, scope)
    : InvalidParameter.one("listener", "expected a function");
};

/** Calls the listener for each event, until the scope closes or the returned function is called. */
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
